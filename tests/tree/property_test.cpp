// Compares the tree with a model that does everything by walking parents, on random trees, valid and damaged.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "bough/tree.h"

namespace bough {
namespace {

using Nodes = std::vector<Sequence>;

struct Columns {
  std::vector<Sequence> parents;
  std::vector<EntryKind> kinds;
  Sequence head = kNoSequence;

  [[nodiscard]] SessionOutline outline() const {
    SessionOutline made;
    for (std::size_t i = 0; i < kinds.size(); ++i) made.add(kinds[i], parents[i]);
    made.head = head;
    return made;
  }
};

struct Model {
  Columns outline;

  [[nodiscard]] bool isNode(Sequence entry) const { return isConversation(outline.kinds[entry]); }

  // Returns the nearest node above, following the format's rules: a parent is an earlier entry, and control entries are
  // skipped.
  [[nodiscard]] Sequence parent(Sequence entry) const {
    for (Sequence at = entry;;) {
      const Sequence up = outline.parents[at];
      if (up >= at) return kNoSequence;
      if (isNode(up)) return up;
      at = up;
    }
  }
  // Returns true when the chain of parents ends at an unknown or later entry.
  [[nodiscard]] bool isBroken(Sequence entry) const {
    for (Sequence at = entry;;) {
      const Sequence up = outline.parents[at];
      if (up == kNoSequence) return false;
      if (up >= at) return true;
      if (isNode(up)) return false;
      at = up;
    }
  }
  [[nodiscard]] bool leadsBack(Sequence entry) const {
    std::set<Sequence> seen;
    Sequence at = outline.parents[entry];
    while (at < outline.parents.size() && at != entry && seen.insert(at).second) at = outline.parents[at];
    return at == entry;
  }
  [[nodiscard]] Nodes path(Sequence node) const {
    Nodes nodes;
    for (; node != kNoSequence; node = parent(node)) nodes.insert(nodes.begin(), node);
    return nodes;
  }
  [[nodiscard]] Nodes children(Sequence node) const {
    Nodes nodes;
    for (Sequence i = 0; i < outline.kinds.size(); ++i) {
      if (isNode(i) && parent(i) == node) nodes.push_back(i);
    }
    return nodes;
  }
};

Model makeModel(std::mt19937_64& random, bool damaged) {
  Model model;
  const auto count = static_cast<Sequence>(1 + random() % 40);
  for (Sequence i = 0; i < count; ++i) {
    EntryKind kind = EntryKind::Message;
    if (i == 0) kind = EntryKind::SessionHeader;
    if (i > 0 && random() % 6 == 0) kind = random() % 2 == 0 ? EntryKind::Label : EntryKind::Head;
    Sequence parent = i == 0 || random() % 12 == 0 ? kNoSequence : static_cast<Sequence>(random() % i);
    if (i > 1 && random() % 2 == 0) parent = i - 1;
    if (damaged && random() % 5 == 0) parent = static_cast<Sequence>(random() % (count + 2));
    if (damaged && random() % 8 == 0) parent = kElsewhere;
    model.outline.parents.push_back(parent);
    model.outline.kinds.push_back(kind);
  }
  model.outline.head = static_cast<Sequence>(random() % count);
  return model;
}

void compare(const Model& model, std::mt19937_64& random) {
  const SessionTree tree(model.outline.outline());
  Nodes nodes;
  Nodes leaves;
  Nodes points;
  for (Sequence i = 0; i < model.outline.kinds.size(); ++i) {
    ASSERT_EQ(tree.isNode(i), model.isNode(i));
    if (!model.isNode(i)) continue;
    nodes.push_back(i);
    const Nodes children = model.children(i);
    if (children.empty()) leaves.push_back(i);
    if (children.size() > 1) points.push_back(i);
    ASSERT_EQ(tree.children(i), children);
    ASSERT_EQ(tree.path(i), model.path(i));
    ASSERT_EQ(tree.depth(i) + 1, model.path(i).size());
    ASSERT_EQ(tree.isOrphan(i), model.isBroken(i)) << i;
  }
  ASSERT_EQ(tree.nodeCount(), nodes.size());
  ASSERT_EQ(tree.leaves(), leaves);
  ASSERT_EQ(tree.branchPoints(), points);
  ASSERT_EQ(tree.roots(), model.children(kNoSequence));
  for (const TreeProblem& problem : tree.problems()) {
    const bool direct = model.outline.parents[problem.node] >= problem.node;
    ASSERT_EQ(problem.kind == TreeProblemKind::Cycle, direct && model.leadsBack(problem.node)) << problem.node;
  }
  const auto branches = tree.branches();
  ASSERT_EQ(branches.size(), leaves.size());
  for (const TreeBranch& branch : branches) {
    const Nodes path = model.path(branch.leaf);
    std::size_t own = 0;  // entries at the end of the path that are on no other leaf's path
    while (own < path.size() && std::ranges::count_if(
                                    leaves,
                                    [&](Sequence leaf) {
                                      const Nodes other = model.path(leaf);
                                      return std::ranges::find(other, path[path.size() - 1 - own]) != other.end();
                                    }) == 1) {
      ++own;
    }
    ASSERT_EQ(branch.length, path.size());
    ASSERT_EQ(branch.ownLength, own);
    ASSERT_EQ(branch.firstOwn, path[path.size() - own]);
    ASSERT_EQ(branch.isOrphan, model.isBroken(path.front()));
    ASSERT_EQ(branch.isHead, tree.head() == branch.leaf);
  }
  for (int i = 0; i < 20 && !nodes.empty(); ++i) {
    const Sequence left = nodes[random() % nodes.size()];
    const Sequence right = nodes[random() % nodes.size()];
    const Nodes leftPath = model.path(left);
    const Nodes rightPath = model.path(right);
    const auto [end, other] = std::ranges::mismatch(leftPath, rightPath);
    ASSERT_EQ(tree.commonAncestor(left, right), end == leftPath.begin() ? kNoSequence : *(end - 1));
  }
}

TEST(SessionTreeProperty, AgreesWithTheModelOnSoundTrees) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000 && !testing::Test::HasFatalFailure(); ++round) {
    SCOPED_TRACE(round);
    compare(makeModel(random, false), random);
  }
}

TEST(SessionTreeProperty, AgreesWithTheModelOnDamagedTrees) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 3000 && !testing::Test::HasFatalFailure(); ++round) {
    SCOPED_TRACE(round);
    compare(makeModel(random, true), random);
  }
}

}  // namespace
}  // namespace bough
