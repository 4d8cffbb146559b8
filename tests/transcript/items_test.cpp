// Entries as a tree: the position of the head, and what a summary keeps.
#include "transcript/model/items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "transcript/model/conversion.h"

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
  const EntryList list(entries);
  const EntryTree tree(list);
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
  const EntryList list(entries);
  const EntryTree tree(list);
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
  const EntryList list(entries);
  const EntryTree tree(list);
  using Ids = std::vector<std::string>;
  EXPECT_EQ(keptBy(list, tree, 4), (Ids{"b", "c"}));
  EXPECT_EQ(keptBy(list, tree, 5), (Ids{"a", "b", "c"}));
  EXPECT_EQ(keptBy(list, tree, 6), Ids{}) << "it is on another branch";
  EXPECT_EQ(keptBy(list, tree, 7), Ids{});
  EXPECT_EQ(keptBy(list, tree, 2), Ids{}) << "only a summary keeps something";
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

TEST(MessageConversion, MessagesOfTwoBranchesStayApart) {
  // A second question after the same first one: the answer belongs only to the first.
  const std::vector<Entry> entries = {said("q1", "", "user"), said("q2", "q1", "user"), said("a1", "q1", "assistant"),
                                      said("a2", "a1", "assistant"), said("b2", "a1", "assistant")};
  const EntryList list(entries);
  const EntryTree tree(list);
  for (const Dialect target : {Dialect::Anthropic, Dialect::Gemini, Dialect::OpenaiResponses}) {
    CompatibilityReport report;
    MessageConversion conversion(list, tree, tree.leaves(), target, report);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string text = joined(conversion.takeMessages(i));
      for (const Entry& other : entries) {
        EXPECT_EQ(text.contains("says " + other.id), other.id == entries[i].id) << i << ": " << text;
      }
    }
  }
}

TEST(MessageConversion, AResultInALaterBranchFindsItsCall) {
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
  const EntryList list(entries);
  const EntryTree tree(list);
  CompatibilityReport report;
  MessageConversion conversion(list, tree, tree.leaves(), Dialect::Anthropic, report);
  for (const std::size_t place : {2U, 3U}) {
    const std::string text = joined(conversion.takeMessages(place));
    EXPECT_TRUE(text.contains("\"tool_result\"") && text.contains("says " + entries[place].id)) << text;
  }
  EXPECT_EQ(report.lossyFields, std::vector<std::string>{});
}

// The summary of another branch is a line between them.
TEST(MessageConversion, MessagesBeforeAndAfterABranchSummaryStayApart) {
  const std::vector<Entry> entries = {said("q1", "", "user"),
                                      entryAt("s", "q1", "branch_summary", R"({"summary":"S"})"),
                                      said("q2", "s", "user"), said("a", "q2", "assistant")};
  const EntryList list(entries);
  const EntryTree tree(list);
  for (const Dialect target : {Dialect::Anthropic, Dialect::Gemini, Dialect::OpenaiResponses}) {
    CompatibilityReport report;
    MessageConversion conversion(list, tree, tree.leaves(), target, report);
    for (const std::size_t place : {0U, 2U}) {
      const std::string text = joined(conversion.takeMessages(place));
      EXPECT_EQ(text.contains("says q1"), place == 0) << text;
      EXPECT_EQ(text.contains("says q2"), place == 2) << text;
    }
  }
}

// A result is added only in the branch that has none.
TEST(MessageConversion, ACallThatOnlyOneBranchAnswersHasOneResultInEach) {
  const std::vector<Entry> entries = {
      said("q", "", "user"),
      entryAt("call", "q", "message",
              message(R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",)"
                      R"("function":{"name":"ls","arguments":"{}"}}]})")),
      entryAt("r", "call", "message", message(R"({"role":"tool","tool_call_id":"call_1","content":"done"})")),
      said("other", "call", "user"), said("end", "r", "assistant")};
  const EntryList list(entries);
  const EntryTree tree(list);
  for (const std::vector<std::size_t>& leaves : {std::vector<std::size_t>{3, 4}, std::vector<std::size_t>{4, 3}}) {
    CompatibilityReport report;
    MessageConversion conversion(list, tree, leaves, Dialect::Anthropic, report);
    EXPECT_FALSE(joined(conversion.takeMessages(1)).contains("tool_result"));
    const std::string result = joined(conversion.takeMessages(2));
    EXPECT_TRUE(result.contains("tool_result") && result.contains("done")) << result;
    EXPECT_EQ(joined(conversion.takeMessages(3)).contains("tool_result"), leaves.front() == 3);
  }
}

Entry of(std::string id, std::string parent, const std::string& json, std::string_view dialect = "anthropic") {
  return entryAt(std::move(id), std::move(parent), "message",
                 "{\"dialect\":\"" + std::string(dialect) + "\",\"message\":" + json + "}");
}

// A long session: each turn has a question, a call, its result and an answer. Every turn uses the same id for its call.
enum class TurnShape : std::uint8_t { Whole, OneQuestion, WithoutAnswers };

std::vector<Entry> longSession(std::size_t turns, TurnShape shape = TurnShape::Whole) {
  std::vector<Entry> entries;
  const auto add = [&](const std::string& json) {
    const std::string parent = entries.empty() ? "" : entries.back().id;
    entries.push_back(of("e" + std::to_string(entries.size()), parent, json));
  };
  for (std::size_t i = 0; i < turns; ++i) {
    const std::string n = std::to_string(i);
    if (i == 0 || shape != TurnShape::OneQuestion) add(R"({"role":"user","content":"asks )" + n + R"("})");
    add(R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},)"
        R"({"type":"tool_use","id":"same","name":"ls","input":{"n":)" +
        n + "}}]}");
    add(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"same","content":"gives )" + n + R"("}]})");
    if (shape == TurnShape::Whole)
      add(R"({"role":"assistant","content":[{"type":"text","text":"says )" + n + R"( "}]})");
  }
  return entries;
}

std::vector<std::string> idsOf(const std::vector<std::string>& messages, std::string_view name) {
  std::vector<std::string> ids;
  for (const std::string& each : messages) {
    const std::string_view text(each);
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      const std::size_t begin = at + name.size();
      ids.emplace_back(text.substr(begin, text.find('"', begin) - begin));
    }
  }
  return ids;
}

TEST(MessageConversion, ALongSessionIsConvertedInPartsAsItIsAtOnce) {
  for (const TurnShape shape : {TurnShape::Whole, TurnShape::OneQuestion, TurnShape::WithoutAnswers}) {
    const std::vector<Entry> entries = longSession(3'000, shape);
    const EntryList list(entries);
    const EntryTree tree(list);
    CompatibilityReport report;
    MessageConversion conversion(list, tree, tree.leaves(), Dialect::OpenaiChat, report);
    std::vector<std::string> calls;
    std::vector<std::string> results;
    std::size_t mostHeld = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto messages = conversion.takeMessages(i);
      mostHeld = std::max(mostHeld, conversion.heldCount());
      EXPECT_EQ(messages.size(), 1U) << i;
      for (const std::string& id : idsOf(messages, "\"tool_calls\":[{\"id\":\"")) calls.push_back(id);
      for (const std::string& id : idsOf(messages, "\"tool_call_id\":\"")) results.push_back(id);
    }
    EXPECT_LT(mostHeld, entries.size() / 2);
    EXPECT_EQ(calls.size(), 3'000U);
    EXPECT_EQ(calls, results);
    const std::set<std::string> different(calls.begin(), calls.end());
    EXPECT_EQ(different.size(), calls.size()) << "an id that is used again gets another one, in a later part too";
    EXPECT_EQ(report.messages, entries.size());
    EXPECT_EQ(report.lossyFields, std::vector<std::string>{"thinking"}) << "each field is named once";
    EXPECT_EQ(report.lossyCounts, std::vector<std::uint64_t>{3'000});
  }
}

TEST(MessageConversion, AnAnswerKeepsTheBlanksAtItsEnd) {
  const std::vector<Entry> entries = {said("q", "", "user"),
                                      of("a", "q", R"({"role":"assistant","content":"done. \n"})", "openai-chat")};
  const EntryList list(entries);
  const EntryTree tree(list);
  CompatibilityReport report;
  MessageConversion conversion(list, tree, tree.leaves(), Dialect::Anthropic, report);
  EXPECT_TRUE(joined(conversion.takeMessages(1)).contains(R"(done. \n")"));
}

TEST(MessageConversion, AResultThatComesManyTurnsLaterStaysWithItsCall) {
  std::vector<Entry> entries = longSession(1);
  const auto add = [&](const std::string& json) {
    entries.push_back(of("l" + std::to_string(entries.size()), entries.back().id, json));
  };
  add(R"({"role":"user","content":"begin"})");
  add(R"({"role":"assistant","content":[{"type":"tool_use","id":"late","name":"ls","input":{}}]})");
  for (int i = 0; i < 400; ++i) {
    add(R"({"role":"user","content":"more"})");
    add(R"({"role":"assistant","content":[{"type":"text","text":"yes"}]})");
  }
  add(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"late","content":"at last"}]})");
  const EntryList list(entries);
  const EntryTree tree(list);
  CompatibilityReport report;
  MessageConversion conversion(list, tree, tree.leaves(), Dialect::OpenaiChat, report);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::string& each : conversion.takeMessages(i)) all.push_back(each);
  }
  const auto result = std::ranges::find_if(all, [](const std::string& each) { return each.contains("at last"); });
  ASSERT_NE(result, all.end());
  EXPECT_TRUE(result->contains("\"tool_call_id\":\"late\"")) << *result;
}

}  // namespace
}  // namespace bough::transcript
