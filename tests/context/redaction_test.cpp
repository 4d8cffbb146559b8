// Redacted entries are shown as redacted, and what was paid for is counted once.
#include <bough/catalog.h>

#include <algorithm>

#include "context/session.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

class Redacted : public ContextTest {};

constexpr Dialect kAll[] = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini};

TEST_F(Redacted, AResultThatWasRedactedSaysSoInItsPlace) {
  user("read it");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"SECRET"}]})",
      "result");
  assistant("done");
  user("go on");
  must(store->redactEntry("s", "result", "me", "secret"));
  for (const Dialect dialect : kAll) {
    const Context context = build(dialect);
    EXPECT_FALSE(context.messages.contains("SECRET"));
    EXPECT_FALSE(context.messages.contains("interrupted")) << context.messages;
    EXPECT_LT(context.messages.find("The result was redacted."), context.messages.find("done")) << context.messages;
    EXPECT_TRUE(brokenRules(dialect, context.requestJson()).empty()) << context.messages;
  }
  EXPECT_TRUE(must(unfinishedToolCalls(*store, "s")).empty());
}

TEST_F(Redacted, OneOfSeveralResultsIsRedactedAlone) {
  user("read both");
  say(Dialect::OpenaiChat,
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]})");
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"a","content":"first"})");
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"b","content":"SECRET"})", "result");
  must(store->redactEntry("s", "result", "me", "secret"));
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(context.messages.contains("first"));
  EXPECT_TRUE(context.messages.contains("The result was redacted.")) << context.messages;
  EXPECT_FALSE(context.messages.contains("interrupted"));
  EXPECT_TRUE(must(unfinishedToolCalls(*store, "s")).empty());
}

// Three calls: one with a result, one whose result was redacted or erased, one without a result.
class ParallelRedacted : public Redacted {
 protected:
  void SetUp() override {
    Redacted::SetUp();
    user("read all");
    say(Dialect::OpenaiChat,
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"h","arguments":"{}"}}]})");
    say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"a","content":"first"})");
    say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"b","content":"SECRET"})", "result");
  }

  // Returns what a Chat context has as the result of a call.
  static std::string resultOf(const Context& context, std::string_view call) {
    const std::string before = R"("tool_call_id":")" + std::string(call) + R"(","content":")";
    const std::size_t at = context.messages.find(before);
    if (at == std::string::npos) return "(none)";
    const std::size_t begin = at + before.size();
    return context.messages.substr(begin, context.messages.find('"', begin) - begin);
  }
};

TEST_F(ParallelRedacted, EachCallSaysWhatIsTrueOfIt) {
  must(store->redactEntry("s", "result", "me", "secret"));
  user("go on");
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_EQ(resultOf(context, "a"), "first");
  EXPECT_TRUE(resultOf(context, "b").contains("redacted")) << context.messages;
  EXPECT_FALSE(resultOf(context, "b").contains("interrupted")) << context.messages;
  EXPECT_TRUE(resultOf(context, "c").contains("interrupted")) << context.messages;
  EXPECT_FALSE(resultOf(context, "c").contains("redacted")) << context.messages;
  EXPECT_FALSE(context.messages.contains("SECRET"));
  for (const Dialect dialect : kAll) {
    const Context there = build(dialect);
    EXPECT_TRUE(brokenRules(dialect, there.requestJson()).empty()) << there.messages;
    EXPECT_FALSE(there.messages.contains("SECRET"));
    EXPECT_LT(there.messages.find("The result was redacted."), there.messages.find("interrupted")) << there.messages;
  }
  const auto open = must(unfinishedToolCalls(*store, "s"));
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].toolCallId, "c");
}

TEST_F(ParallelRedacted, AMigrationAndItsReportSayTheSame) {
  must(store->redactEntry("s", "result", "me", "secret"));
  user("go on");
  const auto migrated = must(migrate(*store, "s", Dialect::Anthropic));
  const Context context = must(buildContext(*store, migrated.sessionId, {.dialect = Dialect::Anthropic}));
  EXPECT_LT(context.messages.find("The result was redacted."), context.messages.find("interrupted"))
      << context.messages;
  EXPECT_FALSE(context.messages.contains("SECRET"));
  EXPECT_TRUE(brokenRules(Dialect::Anthropic, context.requestJson()).empty()) << context.messages;
}

TEST_F(ParallelRedacted, WhatNobodyKnowsAnyMoreIsSaidToBeDoubtful) {
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"result"}, .by = "me", .reason = "secret"}));
  user("go on");
  const Context context = build(Dialect::OpenaiChat);
  for (const std::string_view call : {"b", "c"}) {
    EXPECT_TRUE(resultOf(context, call).contains("erased, or the call was interrupted")) << context.messages;
  }
  EXPECT_TRUE(must(unfinishedToolCalls(*store, "s")).empty()) << "nothing runs again that may have run";
}

TEST_F(Redacted, AResultThatWasErasedIsSaidToBe) {
  user("read it");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"SECRET"}]})",
      "result");
  assistant("done");
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"result"}, .by = "me", .reason = "secret"}));
  for (const Dialect dialect : kAll) {
    const Context context = build(dialect);
    EXPECT_TRUE(context.messages.contains("The result was erased.")) << context.messages;
    EXPECT_FALSE(context.messages.contains("redacted")) << context.messages;
  }
}

TEST_F(Redacted, AQuestionThatWasRedactedAnsweredNoCall) {
  user("one");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  user("two");
  must(store->redactEntry("s", must(store->sessionState("s")).headId, "me", "why"));
  user("three");
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(context.messages.contains("interrupted")) << context.messages;
  EXPECT_FALSE(context.messages.contains("redacted")) << context.messages;
}

TEST_F(Redacted, ACallThatWasReallyInterruptedStillSaysSo) {
  user("one");
  must(store->redactEntry("s", must(store->sessionState("s")).headId, "me", "why"));
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  user("two");
  EXPECT_TRUE(build(Dialect::Anthropic).messages.contains("interrupted"));
}

TEST_F(Redacted, AMigrationSaysSoToo) {
  user("read it");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"SECRET"}]})",
      "result");
  assistant("done");
  must(store->redactEntry("s", "result", "me", "secret"));
  const auto migrated = must(migrate(*store, "s", Dialect::OpenaiChat));
  const Context context = must(buildContext(*store, migrated.sessionId, {.dialect = Dialect::OpenaiChat}));
  EXPECT_TRUE(context.messages.contains("The result was redacted.")) << context.messages;
  EXPECT_FALSE(context.messages.contains("interrupted"));
}

TEST_F(Redacted, TurnsThatWereLeftOutAreCountedExactly) {
  for (int i = 0; i < 6; ++i) {
    user("question " + std::to_string(i) + " with quite a few words in it, so that it costs something");
    assistant("an answer that is not short either, and costs about as much as the question does");
  }
  const std::uint64_t all = build().tokens;
  for (std::uint64_t budget = all / 6; budget < all; budget += 5) {
    const auto context = buildContext(*store, "s", {.budgetTokens = budget});
    if (!context) continue;
    std::uint64_t kept = 0;
    for (std::size_t at = 0; (at = context->messages.find("question", at)) != std::string::npos; at += 8) ++kept;
    EXPECT_EQ(kept / 2 + context->turnsLeftOut, 6U) << budget << context->messages;
  }
}

class Counted : public ContextTest {
 protected:
  std::unique_ptr<Catalog> catalog() {
    auto opened = must(Catalog::open(*store));
    must(opened->catchUp());
    return opened;
  }
  UsageRow total() { return must(catalog()->usage({.by = UsageBy::Model})).total; }
};

constexpr std::string_view kAnswer =
    R"({"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":100,"output_tokens":10}})";

TEST_F(Counted, AMigrationPaysForNothing) {
  user("hello");
  say(Dialect::Anthropic, std::string(kAnswer));
  const UsageRow before = total();
  EXPECT_EQ(before.tokens.inputTokens, 100U);
  auto there = must(migrate(*store, "s", Dialect::Gemini));
  auto back = must(migrate(*store, there.sessionId, Dialect::Anthropic));
  must(migrate(*store, back.sessionId, Dialect::OpenaiChat));
  EXPECT_EQ(total().tokens.inputTokens, 100U);
  EXPECT_EQ(total().messages, before.messages);
}

TEST_F(Counted, ASavedTurnIsCountedOnce) {
  Turn turn;
  turn.blocks.push_back({.role = Role::User, .kind = BlockKind::Text, .text = "hello"});
  turn.blocks.push_back({.kind = BlockKind::Text, .text = "hi"});
  turn.totals = {.usage = {.inputTokens = 7, .outputTokens = 3}, .durationMs = 5000, .model = "claude-sonnet-4-5"};
  must(saveTurn(*store, "s", turn));
  const UsageRow row = total();
  EXPECT_EQ(row.tokens.inputTokens, 7U);
  EXPECT_EQ(row.tokens.outputTokens, 3U);
  EXPECT_EQ(row.models, std::vector<std::string>{"claude-sonnet-4-5"});
  EXPECT_GE(must(catalog()->session("s")).durationMs, 5000U);
}

TEST_F(Counted, UsageThatAMessageOfTheTurnSaysIsNotCountedAgain) {
  TurnSaver saver(*store, "s");
  must(saver.userText("hello"));
  must(saver.message(Dialect::Anthropic, kAnswer));
  must(saver.end({.usage = {.inputTokens = 150, .outputTokens = 10}, .model = "claude-sonnet-4-5"}));
  EXPECT_EQ(total().tokens.inputTokens, 150U);
  EXPECT_EQ(total().tokens.outputTokens, 10U);
}

class Models : public ContextTest {};

TEST_F(Models, OneOfAnotherProviderIsNotSent) {
  add(entry_type::kModelChange, R"({"model":"gpt-5"})");
  user("hello");
  EXPECT_FALSE(build(Dialect::Anthropic).requestJson().contains("gpt-5"));
  EXPECT_TRUE(build(Dialect::OpenaiChat).requestJson().contains("gpt-5"));
  EXPECT_TRUE(build(Dialect::Anthropic).requestJson().contains(R"("max_tokens":4096)"));
  add(entry_type::kModelChange, R"({"model":"claude-opus-4-7","provider":"openrouter"})");
  EXPECT_TRUE(build(Dialect::OpenaiChat).requestJson().contains("claude-opus-4-7"));
}

}  // namespace
}  // namespace bough::test
