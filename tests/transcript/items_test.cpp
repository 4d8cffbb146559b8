// Entries as a tree: where the head is, and what a summary keeps.
#include "transcript/model/items.h"

#include <gtest/gtest.h>

namespace bough::transcript {
namespace {

Entry entryAt(std::string id, std::string parent, std::string type = "message", std::string payload = "{}") {
  Entry entry;
  entry.id = std::move(id);
  entry.parentId = std::move(parent);
  entry.type = std::move(type);
  entry.payload = std::move(payload);
  return entry;
}

std::string from(std::string_view agent, std::string_view more = "") {
  return "{" + std::string(more) + "\"transcript\":{\"agent\":\"" + std::string(agent) + "\",\"at\":0,\"size\":1}}";
}

TEST(EntryTree, TheHeadOfAnAgentIsWhereItsOwnEntriesLeaveIt) {
  const std::vector<Entry> entries = {entryAt("h", "", "session_header"),
                                      entryAt("a", "", "message", from("pi")),
                                      entryAt("b", "a", "message", from("pi")),
                                      entryAt("c", "a", "message", from("codex")),
                                      entryAt("d", "c"),
                                      entryAt("i", "", "session_info")};
  const EntryTree tree(entries);
  EXPECT_EQ(tree.head(), 4U);
  EXPECT_EQ(tree.head("pi"), 2U);
  EXPECT_EQ(tree.head("codex"), 3U);
  EXPECT_EQ(tree.head("claude-code"), EntryTree::kNone);
}

TEST(EntryTree, AHeadEntryMovesTheHeadOfItsAgentAlone) {
  const std::string back = "\"entryId\":\"a\",";
  const std::vector<Entry> entries = {
      entryAt("a", "", "message", from("pi")), entryAt("b", "a", "message", from("codex")),
      entryAt("c", "b", "message", from("pi")), entryAt("x", "", "head", from("pi", back))};
  const EntryTree tree(entries);
  EXPECT_EQ(tree.head(), 0U);
  EXPECT_EQ(tree.head("pi"), 0U);
  EXPECT_EQ(tree.head("codex"), 1U);
}

TEST(EntryTree, ASummaryKeepsTheEntriesOfItsBranchFromTheFirstKeptOn) {
  const auto summary = [](std::string id, std::string parent, const std::string& first) {
    return entryAt(std::move(id), std::move(parent), "compaction_summary", "{\"firstKeptEntryId\":\"" + first + "\"}");
  };
  const std::vector<Entry> entries = {entryAt("a", ""),           entryAt("b", "a"),           entryAt("c", "b"),
                                      entryAt("other", "a"),      summary("s", "c", "b"),      summary("all", "c", "a"),
                                      summary("o", "c", "other"), summary("n", "c", "nowhere")};
  const EntryTree tree(entries);
  using Ids = std::vector<std::string>;
  EXPECT_EQ(keptBy(entries, tree, 4), (Ids{"b", "c"}));
  EXPECT_EQ(keptBy(entries, tree, 5), (Ids{"a", "b", "c"}));
  EXPECT_EQ(keptBy(entries, tree, 6), Ids{}) << "it is on another branch";
  EXPECT_EQ(keptBy(entries, tree, 7), Ids{});
  EXPECT_EQ(keptBy(entries, tree, 2), Ids{}) << "only a summary keeps something";
  EXPECT_EQ(tree.leaves(), (std::vector<std::size_t>{3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace bough::transcript
