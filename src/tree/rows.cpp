#include "tree/rows.h"

#include <algorithm>

namespace bough::tree {
namespace {

// A stretch longer than kLongest is folded, but for so many entries at each end.
constexpr std::size_t kLongest = 10;
constexpr std::size_t kEnds = 3;

}  // namespace

RowWalk::RowWalk(const SessionTree& tree, bool foldNothing) : tree_(tree), foldNothing_(foldNothing) {}

// An entry that nobody would miss: one child, no mark, no summary of others.
bool RowWalk::isPlain(TreeNode node) const {
  const EntryKind kind = tree_.kind(node);
  return !tree_.isLeaf(node) && !tree_.isBranchPoint(node) && node != tree_.head() &&
         kind != EntryKind::BranchSummary && kind != EntryKind::CompactionSummary && tree_.labelsOf(node).empty() &&
         !tree_.isOrphan(node);
}

bool RowWalk::next(Row& row) {
  TreeNode node = kNoNode;
  if (!started_) {
    started_ = true;
    node = tree_.firstRoot();
  } else if (!levels_.empty()) {
    node = tree_.firstChild(levels_.back().node);
    if (node != kNoNode && runPlace_ == kEnds && runLength_ > kLongest && !foldNothing_) {
      fold(node, row);
      return true;
    }
    while (node == kNoNode && !levels_.empty()) {
      node = levels_.back().folded ? kNoNode : tree_.nextSibling(levels_.back().node);
      levels_.pop_back();
    }
  }
  if (node == kNoNode) return false;
  enter(node, row);
  return true;
}

void RowWalk::enter(TreeNode node, Row& row) {
  if (runPlace_ > 0 && runPlace_ < runLength_) {
    ++runPlace_;
  } else {
    runLength_ = 0;
    runPlace_ = 0;
    if (!foldNothing_) {
      for (TreeNode at = node; isPlain(at); at = tree_.firstChild(at)) ++runLength_;
    }
    if (runLength_ > 0) runPlace_ = 1;
  }
  row = {.node = node, .folded = 0, .depth = levels_.size()};
  if (!levels_.empty()) {
    row.above = levels_.back().node;
    row.aboveFolded = levels_.back().folded;
  }
  levels_.push_back({.node = node, .folded = false});
}

void RowWalk::fold(TreeNode first, Row& row) {
  const std::size_t hidden = runLength_ - 2 * kEnds;
  row = {.node = first, .folded = hidden, .depth = levels_.size(), .above = levels_.back().node};
  for (std::size_t i = 1; i < hidden; ++i) row.node = tree_.firstChild(row.node);
  runPlace_ += hidden;
  levels_.push_back({.node = row.node, .folded = true});
}

std::string RowWalk::lead(std::size_t maxColumns) const {
  constexpr std::size_t kColumns = 4;
  const std::size_t most = std::max<std::size_t>(maxColumns / kColumns, 2);
  std::size_t from = 0;
  std::string out;
  if (levels_.size() > most) {
    from = levels_.size() - most + 1;
    out = "⋯   ";
  }
  for (std::size_t i = from; i < levels_.size(); ++i) {
    const bool more = !levels_[i].folded && tree_.nextSibling(levels_[i].node) != kNoNode;
    if (i + 1 == levels_.size()) {
      out += more ? "├── " : "└── ";
    } else {
      out += more ? "│   " : "    ";
    }
  }
  return out;
}

}  // namespace bough::tree
