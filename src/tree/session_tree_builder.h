// Finds the runs of a tree in one pass over the outline of its session.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bough/tree.h"

namespace bough {

class SessionTree::Builder {
 public:
  Builder(SessionTree& tree, const std::vector<SessionOutline::Jump>& jumps) : tree_(tree), jumps_(jumps) {}
  void run();
  /// The nearest node above an entry that is none.
  [[nodiscard]] TreeNode nodeAbove(TreeNode entry) const;

 private:
  struct Link {
    TreeNode parent = kNoNode;  ///< A node, or none.
    bool isUnknown = false;     ///< The entry names a parent, and there is no such earlier entry.
  };
  [[nodiscard]] Link linkOf(TreeNode entry, TreeNode parent) const;
  void addRun(TreeNode first, TreeNode parent);
  [[nodiscard]] bool isInCycle(TreeNode entry, TreeNode parent);

  SessionTree& tree_;
  const std::vector<SessionOutline::Jump>& jumps_;
  std::vector<std::pair<TreeNode, Link>> others_;  // entries that are no nodes, and what stands above them
  std::optional<std::vector<bool>> inCycle_;
};

}  // namespace bough
