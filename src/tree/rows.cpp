#include "tree/rows.h"

#include <algorithm>

namespace bough::tree {

bool RowWalk::hasSiblings(Sequence node) const {
  const Sequence parent = tree_.parent(node);
  if (parent != kNoSequence) return tree_.isBranchPoint(parent);
  return tree_.nextSibling(tree_.firstRoot()) != kNoSequence;
}

RowWalk::RowWalk(const SessionTree& tree, bool all, std::size_t prefixColumns)
    : tree_(tree), all_(all), prefixColumns_(prefixColumns), head_(tree.head()) {
  while (head_ != kNoSequence && isBookkeeping(head_) && !hasSiblings(head_) && tree_.parent(head_) != kNoSequence) {
    head_ = tree_.parent(head_);
  }
}

std::vector<std::pair<Sequence, std::string_view>> labelsOf(const SessionTree& tree, const Row& row) {
  std::vector<std::pair<Sequence, std::string_view>> found;
  for (Sequence node = row.node; node != kNoSequence; node = tree.firstChild(node)) {
    for (const std::string_view name : tree.labelsOf(node)) found.emplace_back(node, name);
    if (node == row.last || row.last == kNoSequence) break;
  }
  return found;
}

// Returns true for entries that are not messages, summaries or of unknown type, unless they have a label that no other
// row shows.
bool RowWalk::isBookkeeping(Sequence node) const {
  if (all_ || isContent(node) || tree_.isOrphan(node)) return false;
  return tree_.labelsOf(node).empty() || followsContent(node);
}

bool RowWalk::isContent(Sequence node) const {
  const EntryKind kind = tree_.kind(node);
  return kind == EntryKind::Message || kind == EntryKind::CompactionSummary || kind == EntryKind::BranchSummary ||
         kind == EntryKind::Other;
}

// Returns true when a message or summary comes shortly before this entry, with only bookkeeping between them. The row
// of that message shows the labels of both.
bool RowWalk::followsContent(Sequence node) const {
  constexpr int kMaxSteps = 16;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Sequence parent = tree_.parent(node);
    if (parent == kNoSequence || tree_.isOrphan(node) || tree_.isBranchPoint(parent)) return false;
    if (isContent(parent)) return true;
    node = parent;
  }
  return false;
}

bool RowWalk::isMarked(Sequence node) const {
  return node == head_ || tree_.isOrphan(node);
}

bool RowWalk::isHidden(Sequence node) const {
  if (!isBookkeeping(node) || node == head_) return false;
  // A branch that consists only of bookkeeping is shown by its last entry.
  const bool branchSeen = openBranches_.empty() ? lastShown_ != kNoSequence : openBranches_.back().drawn;
  return branchSeen || !(tree_.isLeaf(node) || tree_.isBranchPoint(node));
}

// Returns the last of the hidden entries that follow an entry and belong to its row; the entry itself when there are
// none.
Sequence RowWalk::lastOfRow(Sequence node) const {
  for (;;) {
    const Sequence child = tree_.firstChild(node);
    if (child == kNoSequence || tree_.isBranchPoint(node) || !isBookkeeping(child)) return node;
    node = child;
  }
}

// Returns the next entry in walking order. Removes the branches that end on the way to it from openBranches_.
Sequence RowWalk::nextNode() {
  if (!started_) {
    started_ = true;
    return tree_.firstRoot();
  }
  if (at_ == kNoSequence) return kNoSequence;
  Sequence node = tree_.firstChild(at_);
  while (node == kNoSequence && !openBranches_.empty()) {
    node = tree_.nextSibling(openBranches_.back().node);
    lastShown_ = openBranches_.back().parentNode;
    openBranches_.pop_back();
  }
  return node;
}

bool RowWalk::next(Row& row) {
  for (;;) {
    at_ = nextNode();
    if (at_ == kNoSequence) return false;
    const bool parts = hasSiblings(at_);
    if (parts) openBranches_.push_back({.node = at_, .parentNode = lastShown_});
    if (isHidden(at_)) continue;
    const EntryKind kind = tree_.kind(at_);
    const Sequence last = lastOfRow(at_);
    row = {.node = at_, .last = last, .parentNode = lastShown_, .isHead = at_ == head_};
    row.isPlain = !parts && !tree_.isLeaf(last) && !tree_.isBranchPoint(last) && !isMarked(at_) &&
                  labelsOf(tree_, row).empty() && kind != EntryKind::BranchSummary &&
                  kind != EntryKind::CompactionSummary;
    row.prefix = prefix();
    lastShown_ = at_;
    return true;
  }
}

std::string RowWalk::prefix() {
  constexpr std::size_t kColumns = 3;
  const std::size_t maxBranches = std::max<std::size_t>(prefixColumns_ / kColumns, 2);
  std::size_t from = 0;
  std::string out;
  if (openBranches_.size() > maxBranches) {
    from = openBranches_.size() - maxBranches + 1;
    out = "⋯  ";
  }
  for (std::size_t i = from; i < openBranches_.size(); ++i) {
    const bool more = tree_.nextSibling(openBranches_[i].node) != kNoSequence;
    if (openBranches_[i].drawn) {
      out += more ? "│  " : "   ";
    } else {
      out += more ? "├─ " : "└─ ";
      openBranches_[i].drawn = true;
    }
  }
  return out;
}

}  // namespace bough::tree
