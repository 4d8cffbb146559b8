#include "bough/tree.h"

#include <gtest/gtest.h>

#include <numeric>

namespace bough {
namespace {

using Nodes = std::vector<Sequence>;
constexpr Sequence kNone = kNoSequence;

// A header, then messages with these parents; the head is the last message.
SessionOutline outlineOf(const std::vector<Sequence>& parents) {
  SessionOutline outline;
  outline.add(EntryKind::SessionHeader, kNone);
  for (const Sequence parent : parents) outline.add(EntryKind::Message, parent);
  outline.head = static_cast<Sequence>(parents.size());
  return outline;
}

TEST(SessionTree, KnowsTheSpecificationsExample) {
  const SessionTree tree(outlineOf({kNone, 1, 2, 3, 2, 5}), {{"joke", 5}, {"start", 1}, {"also", 5}});
  EXPECT_EQ(tree.nodeCount(), 6u);
  EXPECT_EQ(tree.roots(), Nodes{1});
  EXPECT_EQ(tree.children(2), (Nodes{3, 5}));
  EXPECT_EQ(tree.leaves(), (Nodes{4, 6}));
  EXPECT_EQ(tree.branchPoints(), Nodes{2});
  EXPECT_EQ(tree.path(6), (Nodes{1, 2, 5, 6}));
  EXPECT_EQ(tree.depth(6), 3u);
  EXPECT_EQ(tree.commonAncestor(4, 6), 2u);
  EXPECT_EQ(tree.commonAncestor(1, 6), 1u);
  EXPECT_EQ(tree.commonAncestor(6, 6), 6u);
  EXPECT_EQ(tree.ancestor(6, 3), 1u);
  EXPECT_EQ(tree.ancestor(6, 4), kNone);
  EXPECT_EQ(tree.head(), 6u);
  EXPECT_EQ(tree.labelsOf(5), (std::vector<std::string_view>{"also", "joke"}));
  EXPECT_TRUE(tree.problems().empty());
  const auto branches = tree.branches();
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(branches[0].leaf, 4u);
  EXPECT_EQ(branches[0].firstOwn, 3u);
  EXPECT_EQ(branches[0].length, 4u);
  EXPECT_EQ(branches[0].ownLength, 2u);
  EXPECT_FALSE(branches[0].isHead);
  EXPECT_TRUE(branches[1].isHead);
}

TEST(SessionTree, LeavesControlEntriesOutAndFollowsWhatHangsUnderThem) {
  auto outline = outlineOf({kNone, 1, 2, 3, 1, kElsewhere, 6});
  outline.kinds[3] = EntryKind::Label;  // 4 names it as its parent
  outline.kinds[5] = EntryKind::Head;
  outline.kinds[6] = EntryKind::Redaction;  // its parent is unknown, so the parent of 7 is unknown too
  outline.head = 3;
  const SessionTree tree(std::move(outline), {{"on a control entry", 3}});
  EXPECT_EQ(tree.nodeCount(), 4u);
  EXPECT_FALSE(tree.isNode(3));
  EXPECT_EQ(tree.parent(4), 2u);
  EXPECT_EQ(tree.path(4), (Nodes{1, 2, 4}));
  EXPECT_EQ(tree.leaves(), (Nodes{4, 7}));
  EXPECT_EQ(tree.head(), 2u);
  EXPECT_TRUE(tree.labels().empty());
  ASSERT_EQ(tree.problems().size(), 1u);
  EXPECT_TRUE(tree.isOrphan(7));
}

TEST(SessionTree, TreatsAParentThatIsTheHeaderAsARoot) {
  const SessionTree tree(outlineOf({0, 1, 0}));
  EXPECT_EQ(tree.roots(), (Nodes{1, 3}));
  EXPECT_TRUE(tree.problems().empty());
}

TEST(SessionTree, ShowsAnOrphanAsABranchOfItsOwn) {
  const SessionTree tree(outlineOf({kNone, 1, kElsewhere, 3, 2}));
  EXPECT_EQ(tree.roots(), (Nodes{1, 3}));
  EXPECT_EQ(tree.path(4), (Nodes{3, 4}));
  ASSERT_EQ(tree.problems().size(), 1u);
  EXPECT_EQ(tree.problems()[0].kind, TreeProblemKind::Orphan);
  EXPECT_EQ(tree.problems()[0].node, 3u);
  const auto branches = tree.branches();
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_TRUE(branches[0].isOrphan);
  EXPECT_FALSE(branches[1].isOrphan);
}

TEST(SessionTree, CutsCyclesAndTellsThemFromForwardReferences) {
  // 1 → 3 → 2 → 1 is a cycle to which 4 is attached; 5 → 6 is only in the wrong order; 7 is its own parent.
  const SessionTree tree(outlineOf({3, 1, 2, 3, 6, kNone, 7}));
  EXPECT_EQ(tree.roots(), (Nodes{1, 5, 6, 7}));
  EXPECT_EQ(tree.path(4), (Nodes{1, 2, 3, 4}));
  ASSERT_EQ(tree.problems().size(), 3u);
  EXPECT_EQ(tree.problems()[0].kind, TreeProblemKind::Cycle);
  EXPECT_EQ(tree.problems()[1].kind, TreeProblemKind::Orphan);
  EXPECT_EQ(tree.problems()[1].node, 5u);
  EXPECT_EQ(tree.problems()[2].kind, TreeProblemKind::Cycle);
  EXPECT_EQ(tree.problems()[2].node, 7u);
}

TEST(SessionTree, IsEmptyWithoutEntries) {
  for (const SessionTree& tree : {SessionTree(), SessionTree(SessionOutline{}), SessionTree(outlineOf({}))}) {
    EXPECT_EQ(tree.nodeCount(), 0u);
    EXPECT_TRUE(tree.branches().empty());
    EXPECT_TRUE(tree.roots().empty());
    EXPECT_EQ(tree.head(), kNone);
  }
}

TEST(SessionTree, HoldsAChainOfAMillion) {
  std::vector<Sequence> parents(1'000'000);
  std::iota(parents.begin(), parents.end(), 0u);
  parents[0] = kNone;
  const SessionTree tree(outlineOf(parents));
  EXPECT_EQ(tree.depth(1'000'000), 999'999u);
  EXPECT_EQ(tree.path(1'000'000).size(), 1'000'000u);
  ASSERT_EQ(tree.branches().size(), 1u);
  EXPECT_EQ(tree.branches()[0].ownLength, 1'000'000u);
  EXPECT_EQ(tree.commonAncestor(17, 1'000'000), 17u);
}

TEST(SessionTree, HoldsAMillionEntriesThatAllNameALaterOne) {
  std::vector<Sequence> parents(1'000'000);
  std::iota(parents.begin(), parents.end(), 2u);
  parents.back() = 1;
  const SessionTree tree(outlineOf(parents));
  EXPECT_EQ(tree.problems().size(), 999'999u);
  EXPECT_EQ(tree.problems().front().kind, TreeProblemKind::Cycle);
  EXPECT_EQ(tree.branches().size(), 999'999u);
}

}  // namespace
}  // namespace bough
