// Finds the runs of a tree (see SessionTree::Run) in one pass over the outline of its session.
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
  /// Returns the nearest node above an entry that is not a node.
  [[nodiscard]] Sequence nodeAbove(Sequence entry) const;

 private:
  struct Link {
    Sequence parent = kNoSequence;  ///< A node, or kNoSequence.
    bool isUnknown = false;         ///< The entry names a parent that is not an earlier entry.
  };
  [[nodiscard]] Link linkOf(Sequence entry, Sequence parent) const;
  void addRun(Sequence first, Sequence parent);
  [[nodiscard]] bool isInCycle(Sequence entry, Sequence parent);

  SessionTree& tree_;
  const std::vector<SessionOutline::Jump>& jumps_;
  std::vector<std::pair<Sequence, Link>> others_;  // entries that are not nodes, with the node above each
  std::optional<std::vector<bool>> inCycle_;
};

}  // namespace bough
