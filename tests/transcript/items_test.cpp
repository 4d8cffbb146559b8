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

std::string message(std::string_view json) {
  return "{\"dialect\":\"openai-chat\",\"message\":" + std::string(json) + "}";
}

Entry said(std::string id, std::string parent, std::string_view role) {
  const std::string json = "{\"role\":\"" + std::string(role) + "\",\"content\":\"says " + id + "\"}";
  return entryAt(std::move(id), std::move(parent), "message", message(json));
}

std::string joined(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& each : messages) all += each;
  return all;
}

TEST(ConvertEntries, MessagesOfTwoBranchesStayApart) {
  // A second question after the same first one: the answer belongs to the first alone.
  const std::vector<Entry> entries = {said("q1", "", "user"), said("q2", "q1", "user"), said("a1", "q1", "assistant"),
                                      said("a2", "a1", "assistant"), said("b2", "a1", "assistant")};
  const EntryTree tree(entries);
  for (const Dialect target : {Dialect::Anthropic, Dialect::Gemini, Dialect::OpenaiResponses}) {
    CompatibilityReport report;
    const auto converted = convertEntries(entries, tree, tree.leaves(), target, report);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string text = converted.contains(i) ? joined(converted.at(i)) : std::string();
      for (const Entry& other : entries) {
        EXPECT_EQ(text.contains("says " + other.id), other.id == entries[i].id) << i << ": " << text;
      }
    }
  }
}

TEST(ConvertEntries, AResultInALaterBranchFindsItsCall) {
  const auto result = [](std::string id) {
    const std::string json = "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"says " + id + "\"}";
    return entryAt(std::move(id), "call", "message", message(json));
  };
  const std::vector<Entry> entries = {
      said("q", "", "user"),
      entryAt("call", "q", "message",
              message(R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",)"
                      R"("function":{"name":"ls","arguments":"{}"}}]})")),
      result("r1"), result("r2")};
  const EntryTree tree(entries);
  CompatibilityReport report;
  const auto converted = convertEntries(entries, tree, tree.leaves(), Dialect::Anthropic, report);
  for (const std::size_t place : {2U, 3U}) {
    const std::string text = joined(converted.at(place));
    EXPECT_TRUE(text.contains("\"tool_result\"") && text.contains("says " + entries[place].id)) << text;
  }
  EXPECT_EQ(report.lossyFields, std::vector<std::string>{});
}

}  // namespace
}  // namespace bough::transcript
