// The tree as rows, in the order in which they are drawn: an entry each, or a stretch of entries that is folded.
#pragma once

#include <string>
#include <vector>

#include "bough/tree.h"

namespace bough::tree {

struct Row {
  TreeNode node = kNoNode;   ///< The entry; of a fold the last one in it.
  std::size_t folded = 0;    ///< How many entries are folded; 0 for an entry.
  std::size_t depth = 0;     ///< Rows above it on the way to its root.
  TreeNode above = kNoNode;  ///< The row it hangs under, by its node; kNoNode for roots.
  bool aboveFolded = false;
};

/// Walks a tree row by row, children before siblings.
class RowWalk {
 public:
  RowWalk(const SessionTree& tree, bool foldNothing);

  /// False at the end.
  bool next(Row& row);

  /// The lines in front of the last row: for each level whether more siblings follow there. The last one is its own.
  [[nodiscard]] std::string lead(std::size_t maxColumns) const;

 private:
  struct Level {
    TreeNode node = kNoNode;
    bool folded = false;
  };

  [[nodiscard]] bool isPlain(TreeNode node) const;
  void enter(TreeNode node, Row& row);
  void fold(TreeNode first, Row& row);

  const SessionTree& tree_;
  const bool foldNothing_;
  std::vector<Level> levels_;
  bool started_ = false;
  std::size_t runLength_ = 0;  // plain entries in a row, of which the last row is one
  std::size_t runPlace_ = 0;   // its place among them, from 1
};

}  // namespace bough::tree
