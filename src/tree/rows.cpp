#include "tree/rows.h"

#include <algorithm>

namespace bough::tree {

bool RowWalk::hasSiblings(TreeNode node) const {
  const TreeNode parent = tree_.parent(node);
  if (parent != kNoNode) return tree_.isBranchPoint(parent);
  return tree_.nextSibling(tree_.firstRoot()) != kNoNode;
}

bool RowWalk::isMarked(TreeNode node) const {
  return node == tree_.head() || !tree_.labelsOf(node).empty() || tree_.isOrphan(node);
}

bool RowWalk::isHidden(TreeNode node) const {
  if (all_ || isMarked(node) || tree_.isBranchPoint(node)) return false;
  // A branch that holds nothing but bookkeeping is shown by its last entry.
  const bool branchSeen = partings_.empty() ? shown_ != kNoNode : partings_.back().drawn;
  if (tree_.isLeaf(node) && !branchSeen) return false;
  const EntryKind kind = tree_.kind(node);
  return kind != EntryKind::Message && kind != EntryKind::CompactionSummary && kind != EntryKind::BranchSummary &&
         kind != EntryKind::Custom && kind != EntryKind::Other;
}

// The next entry in the order of the walk. Leaves the branches that end on the way to it.
TreeNode RowWalk::following() {
  if (!started_) {
    started_ = true;
    return tree_.firstRoot();
  }
  if (at_ == kNoNode) return kNoNode;
  TreeNode node = tree_.firstChild(at_);
  while (node == kNoNode && !partings_.empty()) {
    node = tree_.nextSibling(partings_.back().node);
    partings_.pop_back();
  }
  return node;
}

bool RowWalk::next(Row& row) {
  for (;;) {
    at_ = following();
    if (at_ == kNoNode) return false;
    const bool parts = hasSiblings(at_);
    if (parts) {
      shown_ = tree_.parent(at_);  // a branch point is always shown
      partings_.push_back({.node = at_});
    }
    if (isHidden(at_)) continue;
    const EntryKind kind = tree_.kind(at_);
    row = {.node = at_, .above = shown_};
    row.isPlain = !parts && !tree_.isLeaf(at_) && !tree_.isBranchPoint(at_) && !isMarked(at_) &&
                  kind != EntryKind::BranchSummary && kind != EntryKind::CompactionSummary;
    row.lead = lead();
    shown_ = at_;
    return true;
  }
}

std::string RowWalk::lead() {
  constexpr std::size_t kColumns = 3;
  const std::size_t most = std::max<std::size_t>(leadColumns_ / kColumns, 2);
  std::size_t from = 0;
  std::string out;
  if (partings_.size() > most) {
    from = partings_.size() - most + 1;
    out = "⋯  ";
  }
  for (std::size_t i = from; i < partings_.size(); ++i) {
    const bool more = tree_.nextSibling(partings_[i].node) != kNoNode;
    if (partings_[i].drawn) {
      out += more ? "│  " : "   ";
    } else {
      out += more ? "├─ " : "└─ ";
      partings_[i].drawn = true;
    }
  }
  return out;
}

}  // namespace bough::tree
