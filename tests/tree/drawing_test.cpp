#include "bough/tree.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/text/text.h"

namespace bough {
namespace {

constexpr Sequence kNone = kNoSequence;

SessionOutline outlineOf(const std::vector<Sequence>& parents) {
  SessionOutline outline;
  outline.add(EntryKind::SessionHeader, kNone);
  for (const Sequence parent : parents) outline.add(EntryKind::Message, parent);
  outline.head = static_cast<Sequence>(parents.size());
  return outline;
}

SessionOutline chain(Sequence length) {
  std::vector<Sequence> parents(length);
  std::iota(parents.begin(), parents.end(), 0u);
  parents[0] = kNone;
  return outlineOf(parents);
}

// The text of entry n is "entry n".
Result<std::vector<EntrySummary>> describe(const std::vector<Sequence>& nodes) {
  std::vector<EntrySummary> summaries;
  for (const Sequence node : nodes) {
    summaries.push_back({.entryId = "id" + std::to_string(node),
                         .speaker = node % 2 == 1 ? "user" : "assistant",
                         .text = "entry " + std::to_string(node)});
  }
  return summaries;
}

std::string drawn(const SessionTree& tree, const DrawOptions& options = {}, const DescribeEntries& texts = describe) {
  std::string out = "\n";
  const auto done = drawTree(tree, texts, options, [&](std::string_view line) {
    out.append(line).append("\n");
    return true;
  });
  EXPECT_TRUE(done.has_value());
  return out;
}

TEST(TreeDrawing, DrawsTheSpecificationsExample) {
  const std::string texts[] = {"",
                               "Hello, how are you?",
                               "I am doing well, thank you!",
                               "Can you help me with a task?",
                               "Of course! What do you need?",
                               "Tell me a joke instead",
                               "Why did the chicken cross the road?"};
  const auto say = [&](const std::vector<Sequence>& nodes) {
    auto summaries = describe(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) (*summaries)[i].text = texts[nodes[i]];
    return summaries;
  };
  EXPECT_EQ(drawn(SessionTree(outlineOf({kNone, 1, 2, 3, 2, 5})), {}, say), R"(
[user] Hello, how are you?
[assistant] I am doing well, thank you!
├─ [user] Can you help me with a task?
│  [assistant] Of course! What do you need?
└─ [user] Tell me a joke instead
   [assistant] Why did the chicken cross the road?   ← head
)");
}

TEST(TreeDrawing, DrawsSeveralRootsAndMarks) {
  auto outline = outlineOf({kNone, 1, kElsewhere, 3, kNone, 6});
  outline.head = 1;
  EXPECT_EQ(drawn(SessionTree(std::move(outline), {{"start", 1}, {"try-2", 2}, {"also", 2}}), {.ids = true}), R"(
├─ [user] entry 1   ← head, label start   id1
│  [assistant] entry 2   ← branch also, branch try-2   id2
├─ [user] entry 3   ← orphan: its parent is missing   id3
│  [assistant] entry 4   id4
├─ [user] entry 5   id5
└─ [assistant] entry 6   ← cycle: its parent comes from itself   id6
)");
}

// Every tenth entry is from the user.
Result<std::vector<EntrySummary>> describeWork(const std::vector<Sequence>& nodes) {
  auto summaries = describe(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) (*summaries)[i].speaker = nodes[i] % 10 == 1 ? "user" : "tool";
  return summaries;
}

TEST(TreeDrawing, FoldsNoEntryThatCannotBeRead) {
  const auto damaged = [](const std::vector<Sequence>& nodes) {
    auto summaries = describeWork(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] == 9) (*summaries)[i] = {.entryId = "id9", .speaker = "unreadable", .text = "[unreadable entry]"};
    }
    return summaries;
  };
  EXPECT_TRUE(drawn(SessionTree(chain(20)), {}, damaged).contains("[unreadable] [unreadable entry]\n"));
}

TEST(TreeDrawing, FoldsLongStretchesButNotWhatTheUserAsked) {
  std::vector<Sequence> parents = {kNone};
  for (Sequence i = 1; i < 30; ++i) parents.push_back(i);
  parents.push_back(20);  // 31: a branch in the middle
  EXPECT_EQ(drawn(SessionTree(outlineOf(parents)), {}, describeWork), R"(
[user] entry 1
[tool] entry 2
… 8 messages
[user] entry 11
… 6 messages
[tool] entry 18
[tool] entry 19
[tool] entry 20
├─ [user] entry 21
│  [tool] entry 22
│  [tool] entry 23
│  [tool] entry 24
│  [tool] entry 25
│  [tool] entry 26
│  [tool] entry 27
│  [tool] entry 28
│  [tool] entry 29
│  [tool] entry 30
└─ [user] entry 31   ← head
)");
}

TEST(TreeDrawing, ABranchThatBeginsWithBookkeepingKeepsItsCorner) {
  auto outline = outlineOf({kNone, 1, 2, 1, 4, 5});
  outline.kinds[4] = EntryKind::ModelChange;
  outline.kinds[5] = EntryKind::ThinkingLevelChange;
  EXPECT_EQ(drawn(SessionTree(outline)), R"(
[user] entry 1
├─ [assistant] entry 2
│  [user] entry 3
└─ [assistant] entry 6   ← head
)");
  EXPECT_EQ(drawn(SessionTree(outline), {.all = true}), R"(
[user] entry 1
├─ [assistant] entry 2
│  [user] entry 3
└─ [assistant] entry 4
   [user] entry 5
   [assistant] entry 6   ← head
)");
}

// Every turn of a chat ends with an entry with its totals; the next turn, and a branch, continue from that entry.
TEST(TreeDrawing, WhereTheHeadOrABranchPointIsBookkeepingTheEntryBeforeItHasItsPlace) {
  auto outline = outlineOf({kNone, 1, 2, 3, 4, 5, 3, 7, 8});
  for (const Sequence sum : {3u, 6u, 9u}) outline.kinds[sum] = EntryKind::Custom;
  outline.head = 6;
  EXPECT_EQ(drawn(SessionTree(outline)), R"(
[user] entry 1
[assistant] entry 2
├─ [assistant] entry 4
│  [user] entry 5   ← head
└─ [user] entry 7
   [assistant] entry 8
)");
  outline.head = 3;
  const SessionTree tree(outline, {{"sum", 9}, {"before", 3}});
  EXPECT_EQ(drawn(tree), R"(
[user] entry 1
[assistant] entry 2   ← head, label before
├─ [assistant] entry 4
│  [user] entry 5
└─ [user] entry 7
   [assistant] entry 8   ← branch sum
)");
  std::string graph;
  ASSERT_TRUE(drawTreeAsDot(tree, describe, {}, [&](std::string_view line) {
                graph.append(line).append("\n");
                return true;
              }).has_value());
  EXPECT_TRUE(graph.contains("n2 -> n4;")) << graph;
  EXPECT_TRUE(graph.contains("n2 -> n7;")) << graph;
  EXPECT_FALSE(graph.contains("n3")) << graph;
}

// A label is always shown, whatever entry has it.
TEST(TreeDrawing, NamedBookkeepingThatFollowsNothingHasARowOfItsOwn) {
  auto outline = outlineOf({kNone, 1, 2, 2});
  for (const Sequence made : {1u, 4u}) outline.kinds[made] = EntryKind::Custom;
  outline.head = 3;
  EXPECT_EQ(drawn(SessionTree(outline, {{"begin", 1}, {"other", 4}})), R"(
[user] entry 1   ← label begin
[assistant] entry 2
├─ [user] entry 3   ← head
└─ [assistant] entry 4   ← branch other
)");
}

TEST(TreeDrawing, TheHeadIsShownWhereThereIsLittleRoom) {
  // Each entry has a sibling, so that every level is indented further.
  std::vector<Sequence> parents = {kNone};
  for (Sequence i = 1; i < 60; i += 2) {
    parents.push_back(i);
    parents.push_back(i);
  }
  const std::string text = drawn(SessionTree(outlineOf(parents)), {.width = 40});
  EXPECT_TRUE(text.contains("← head")) << text;
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(text::displayWidth(text.substr(at, end - at)), 40u) << text;
    at = end + 1;
  }
}

TEST(TreeDrawing, FoldsNothingThatMatters) {
  auto outline = chain(60);
  outline.kinds[20] = EntryKind::BranchSummary;
  outline.head = 40;
  const std::string text = drawn(SessionTree(std::move(outline), {{"here", 30}}));
  for (const std::string shown : {"entry 20\n", "entry 30   ← label here\n", "entry 40   ← head\n", "entry 60\n"}) {
    EXPECT_TRUE(text.contains(shown)) << shown << text;
  }
  EXPECT_TRUE(drawn(SessionTree(chain(60)), {}, describeWork).contains("… 8 messages"));
  EXPECT_FALSE(drawn(SessionTree(chain(60)), {.all = true}).contains("…"));
}

TEST(TreeDrawing, KeepsToTheWidthHoweverDeep) {
  const auto say = [](const std::vector<Sequence>& nodes) {
    auto summaries = describe(nodes);
    for (EntrySummary& summary : *summaries) summary.text = "你好世界, this is a rather long message about everything";
    return summaries;
  };
  std::size_t lines = 0;
  const auto done = drawTree(SessionTree(chain(100'000), {{"near the end", 99'990}}), say, {.width = 60, .all = true},
                             [&](std::string_view line) {
                               ++lines;
                               EXPECT_LE(text::displayWidth(line), 60u) << line;
                               return !testing::Test::HasFailure();
                             });
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(lines, 100'000u);
}

TEST(TreeDrawing, ALongSessionFoldIntoAFewLinesAndAreReadInParts) {
  std::size_t most = 0;
  const auto quiet = [&](const std::vector<Sequence>& nodes) {
    most = std::max(most, nodes.size());
    auto summaries = describe(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) (*summaries)[i].speaker = nodes[i] == 100'000 ? "user" : "tool";
    return summaries;
  };
  EXPECT_EQ(drawn(SessionTree(chain(200'000)), {}, quiet), R"(
[tool] entry 1
[tool] entry 2
… 99997 messages
[user] entry 100000
… 99997 messages
[tool] entry 199998
[tool] entry 199999
[tool] entry 200000   ← head
)");
  EXPECT_LE(most, 256u);
}

TEST(TreeDrawing, StopsWhenNobodyReads) {
  int lines = 0;
  EXPECT_TRUE(drawTree(SessionTree(chain(1000)), describe, {.all = true}, [&](std::string_view) {
                return ++lines < 3;
              }).has_value());
  EXPECT_EQ(lines, 3);
}

TEST(TreeDrawing, ColoursPartsAndNothingElse) {
  const DrawOptions options{.paint = [](TreePart part, std::string_view text) {
    return std::string(1, "lstmf"[static_cast<int>(part)]) + "<" + std::string(text) + ">";
  }};
  EXPECT_EQ(drawn(SessionTree(chain(1)), options), "\ns<[user]> t<entry 1>   m<← head>\n");
}

TEST(TreeDrawing, MakesAGraph) {
  const auto say = [](const std::vector<Sequence>& nodes) {
    auto summaries = describe(nodes);
    for (EntrySummary& summary : *summaries) summary.text = R"(a "quoted" \ text)";
    summaries->front().failed = true;
    return summaries;
  };
  std::string out = "\n";
  const auto done = drawTreeAsDot(SessionTree(outlineOf({kNone, 1, 1})), say, {}, [&](std::string_view line) {
    out.append(line).append("\n");
    return true;
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(out, R"(
digraph session {
  node [shape=box, fontname="sans-serif"];
  n1 [label="[user] a \"quoted\" \\ text", color=red];
  n2 [label="[assistant] a \"quoted\" \\ text"];
  n1 -> n2;
  n3 [label="[user] a \"quoted\" \\ text ← head", style=bold];
  n1 -> n3;
}
)");
}

TEST(TreeDrawing, FailsWhenTextsCannotBeRead) {
  const auto broken = [](const std::vector<Sequence>&) -> Result<std::vector<EntrySummary>> {
    return fail(ErrorCode::Damaged, "gone");
  };
  EXPECT_FALSE(drawTree(SessionTree(chain(2)), broken, {}, [](std::string_view) { return true; }).has_value());
}

}  // namespace
}  // namespace bough
