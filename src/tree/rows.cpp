#include "tree/rows.h"

#include <algorithm>

namespace bough::tree {

bool RowWalk::hasSiblings(Sequence node) const {
  const Sequence parent = tree_.parent(node);
  if (parent != kNoSequence) return tree_.isBranchPoint(parent);
  return tree_.nextSibling(tree_.firstRoot()) != kNoSequence;
}

RowWalk::RowWalk(const SessionTree& tree, bool all, std::size_t leadColumns)
    : tree_(tree), all_(all), leadColumns_(leadColumns), head_(tree.head()) {
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
  if (all_ || isSaid(node) || tree_.isOrphan(node)) return false;
  return tree_.labelsOf(node).empty() || followsSaid(node);
}

bool RowWalk::isSaid(Sequence node) const {
  const EntryKind kind = tree_.kind(node);
  return kind == EntryKind::Message || kind == EntryKind::CompactionSummary || kind == EntryKind::BranchSummary ||
         kind == EntryKind::Other;
}

// Returns true when a message or summary comes shortly before this entry, with only bookkeeping between them. The row
// of that message shows the labels of both.
bool RowWalk::followsSaid(Sequence node) const {
  constexpr int kMost = 16;
  for (int step = 0; step < kMost; ++step) {
    const Sequence parent = tree_.parent(node);
    if (parent == kNoSequence || tree_.isOrphan(node) || tree_.isBranchPoint(parent)) return false;
    if (isSaid(parent)) return true;
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
  const bool branchSeen = partings_.empty() ? shown_ != kNoSequence : partings_.back().drawn;
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

// Returns the next entry in walking order. Removes the branches that end on the way to it from partings_.
Sequence RowWalk::following() {
  if (!started_) {
    started_ = true;
    return tree_.firstRoot();
  }
  if (at_ == kNoSequence) return kNoSequence;
  Sequence node = tree_.firstChild(at_);
  while (node == kNoSequence && !partings_.empty()) {
    node = tree_.nextSibling(partings_.back().node);
    shown_ = partings_.back().above;
    partings_.pop_back();
  }
  return node;
}

bool RowWalk::next(Row& row) {
  for (;;) {
    at_ = following();
    if (at_ == kNoSequence) return false;
    const bool parts = hasSiblings(at_);
    if (parts) partings_.push_back({.node = at_, .above = shown_});
    if (isHidden(at_)) continue;
    const EntryKind kind = tree_.kind(at_);
    const Sequence last = lastOfRow(at_);
    row = {.node = at_, .last = last, .above = shown_, .isHead = at_ == head_};
    row.isPlain = !parts && !tree_.isLeaf(last) && !tree_.isBranchPoint(last) && !isMarked(at_) &&
                  labelsOf(tree_, row).empty() && kind != EntryKind::BranchSummary &&
                  kind != EntryKind::CompactionSummary;
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
    const bool more = tree_.nextSibling(partings_[i].node) != kNoSequence;
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
