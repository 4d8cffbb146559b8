#include "context/session.h"

namespace bough {
namespace {

using SaveTurn = ContextTest;

TEST_F(SaveTurn, BlocksComeOneByOneAndAreOneMessageInTheContext) {
  TurnSaver turn(*store, "s", {.runId = "run1"});
  must(turn.userText("list it"));
  must(turn.thinking("I should look", "sig"));
  must(turn.assistantText("looking"));
  const std::string call = must(turn.toolUse("t1", "ls", R"({"path":"."})"));
  must(turn.toolStart("t1", "ls"));
  must(turn.toolResult("t1", "a\nb"));
  must(turn.assistantText("two files"));
  must(turn.end({.usage = {.inputTokens = 10, .outputTokens = 5}, .durationMs = 1234}));
  EXPECT_EQ(
      build().messages,
      R"([{"role":"user","content":"list it"},{"role":"assistant","content":[{"type":"text","text":"looking"},)"
      R"({"type":"tool_use","id":"t1","name":"ls","input":{"path":"."}}]},{"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"t1","content":"a\nb"}]},{"role":"assistant","content":"two files"}])");
  const auto entries = must(store->loadSessionEntries("s", {.last = 1}));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].payload, R"({"kind":"turn","usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":0,)"
                                R"("cacheWriteTokens":0,"reasoningTokens":0},"durationMs":1234,"toolCount":1})");
  EXPECT_EQ(entries[0].runId, "run1");
  EXPECT_EQ(must(store->loadEntry("s", call)).payload,
            R"({"dialect":"bough","message":{"role":"assistant","content":[{"type":"tool_call","id":"t1","name":"ls",)"
            R"("input":{"path":"."}}]}})");
}

TEST_F(SaveTurn, ATurnGoesOnWhereItBeganThoughOthersAppend) {
  TurnSaver turn(*store, "s");
  must(turn.userText("mine"));
  user("somebody else's");
  const std::string answer = must(turn.assistantText("answer"));
  EXPECT_EQ(build({.at = answer}).messages,
            R"([{"role":"user","content":"mine"},{"role":"assistant","content":"answer"}])");
}

TEST_F(SaveTurn, AWholeTurnIsOneBatch) {
  const auto done = must(saveTurn(*store, "s",
                                  {.blocks = {{.role = Role::User, .text = "hi"},
                                              {.kind = BlockKind::ToolCall, .id = "t", .name = "f"},
                                              {.kind = BlockKind::ToolResult, .text = "no", .id = "t", .isError = true},
                                              {.text = "done"}},
                                   .totals = {.durationMs = 7}}));
  EXPECT_EQ(done.appendedCount, 5U);
  EXPECT_NE(build().messages.find(R"("content":"no","is_error":true)"), std::string::npos);
}

TEST_F(SaveTurn, WhatIsNoBlockOfATurnIsRefusedAndNothingStored) {
  TurnSaver turn(*store, "s");
  EXPECT_EQ(refused(turn.toolUse("", "ls", "{}")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(turn.toolUse("t", "ls", "{")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(turn.message(Dialect::Anthropic, R"({"role":"x"})")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(saveTurn(*store, "s", {.blocks = {{.text = "a"}, {.kind = BlockKind::Image}}})).code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(must(store->sessionState("s")).entryCount, 1U);
}

// When a message could not be stored and is sent again, its cost counts once.
TEST_F(SaveTurn, AMessageThatWasNotStoredCountsForNothing) {
  const std::string answer =
      R"({"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}],"usage":{"input_tokens":5,"output_tokens":7}})";
  TurnSaver turn(*store, "late");
  EXPECT_EQ(refused(turn.message(Dialect::Anthropic, answer)).code, ErrorCode::NotFound);
  must(store->createSession({.sessionId = "late"}));
  must(turn.message(Dialect::Anthropic, R"({"role":"user","content":"go"})"));
  must(turn.message(Dialect::Anthropic, answer));
  must(turn.end({}));
  const std::string payload = must(store->loadSessionEntries("late")).back().payload;
  EXPECT_TRUE(payload.contains(R"("counted":{"inputTokens":5,"outputTokens":7)")) << payload;
  EXPECT_TRUE(payload.contains(R"("toolCount":1)")) << payload;
}

using UnfinishedToolCalls = ContextTest;

TEST_F(UnfinishedToolCalls, AreThoseWithoutAResultAndSayWhetherTheyWereStarted) {
  TurnSaver turn(*store, "s");
  must(turn.userText("go"));
  must(turn.toolUse("a", "read", "{}"));
  const std::string b = must(turn.toolUse("b", "write", R"({"x":1})"));
  must(turn.toolUse("c", "run", "{}"));
  must(turn.toolStart("a", "read"));
  must(turn.toolResult("a", "ok"));
  const std::string start = must(turn.toolStart("b", "write"));
  const auto open = must(unfinishedToolCalls(*store, "s"));
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].toolCallId, "b");
  EXPECT_EQ(open[0].entryId, b);
  EXPECT_EQ(open[0].input, R"({"x":1})");
  EXPECT_TRUE(open[0].started);
  EXPECT_EQ(open[0].startedEntryId, start);
  EXPECT_EQ(open[1].name, "run");
  EXPECT_FALSE(open[1].started);
}

TEST_F(UnfinishedToolCalls, OnlyTheBranchCounts) {
  TurnSaver turn(*store, "s");
  const std::string first = must(turn.userText("go"));
  must(turn.toolUse("a", "read", "{}"));
  must(store->moveHead("s", first));
  EXPECT_TRUE(must(unfinishedToolCalls(*store, "s")).empty());
}

using Cache = ContextTest;

TEST_F(Cache, GivesTheSameContextUntilTheBranchGrowsOrIsRedacted) {
  ContextCache cache;
  user("one", "u1");
  const auto first = must(cache.get(*store, "s"));
  EXPECT_EQ(must(cache.get(*store, "s")), first);
  EXPECT_NE(must(cache.get(*store, "s", {.dialect = Dialect::Gemini})), first);
  EXPECT_EQ(cache.hits(), 1U);
  user("two");
  const auto second = must(cache.get(*store, "s"));
  EXPECT_NE(second->messages, first->messages);
  must(store->redactEntry("s", "u1", "me", "why"));
  EXPECT_EQ(must(cache.get(*store, "s"))->messages.find("one"), std::string::npos);
}

TEST_F(Cache, ARedactionInTheSessionAForkSharesCounts) {
  ContextCache cache;
  user("one", "u1");
  user("two", "u2");
  must(store->branchFromEntry("s", "u2", {.sessionId = "f"}));
  EXPECT_NE(must(cache.get(*store, "f"))->messages.find("one"), std::string::npos);
  must(store->redactEntry("s", "u1", "me", "why"));
  EXPECT_EQ(must(cache.get(*store, "f"))->messages.find("one"), std::string::npos);
}

TEST_F(Cache, HoldsNoMoreThanItsCapacity) {
  ContextCache cache(1);
  user("one");
  must(cache.get(*store, "s"));
  must(cache.get(*store, "s", {.dialect = Dialect::Gemini}));
  must(cache.get(*store, "s"));
  EXPECT_EQ(cache.hits(), 0U);
}

}  // namespace
}  // namespace bough
