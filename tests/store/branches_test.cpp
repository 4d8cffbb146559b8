// Branches as users list, compare and replay them.

#include "bough/tree.h"

#include <gtest/gtest.h>

#include "store/store_support.h"

namespace bough {
namespace {

Entry said(const std::string& role, const std::string& text, const std::string& id) {
  return entryOf("message", R"({"dialect":"bough","message":{"role":")" + role + R"(","content":")" + text + "\"}}",
                 id);
}

class BranchesTest : public StoreTest {
 protected:
  BranchesTest() {
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {said("user", "Hello", "a"), said("assistant", "Hi", "b"),
                                           said("user", "Task", "c"), said("assistant", "Of course", "d")}));
    must(store->moveHead("s", "b"));
    must(store->appendSessionEntries("s", {said("user", "Joke", "e"), said("assistant", "Chicken", "f")}));
  }

  Ids ids(const std::string& session, const std::vector<Sequence>& nodes) {
    return idsOf(must(store->loadEntriesAt(session, nodes)));
  }
};

TEST_F(BranchesTest, AreListedWithLengthAndLastMessage) {
  must(store->labelEntry("s", "d", "task"));
  must(store->appendSessionEntries("s", {entryOf("model_change", R"({"model":"m"})", "g")}));
  const auto branches = must(listBranches(*store, "s"));
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(branches[0].leafId, "d");
  EXPECT_EQ(branches[0].firstOwnId, "c");
  EXPECT_EQ(branches[0].length, 4u);
  EXPECT_EQ(branches[0].lastMessage, "Of course");
  EXPECT_EQ(branches[0].names, Ids{"task"});
  EXPECT_FALSE(branches[0].isHead);
  EXPECT_EQ(branches[1].leafId, "g");
  EXPECT_EQ(branches[1].speaker, "assistant");
  EXPECT_EQ(branches[1].lastMessage, "Chicken") << "what was said, though a change of model came after it";
  EXPECT_TRUE(branches[1].isHead);
  EXPECT_FALSE(branches[1].timestamp.empty());
}

TEST_F(BranchesTest, LastMessagesAreCutBetweenCharacters) {
  std::string family;
  for (int i = 0; i < 60; ++i) family += "\U0001F469\u200D\U0001F467";
  must(store->appendSessionEntries("s", {said("user", family, "g")}));
  const auto last = must(listBranches(*store, "s")).back().lastMessage;
  EXPECT_EQ(last, family.substr(0, 49 * family.size() / 60) + "…");
}

TEST_F(BranchesTest, OfOneSessionDifferBehindTheirCommonAncestor) {
  auto diff = must(store->diffBranches({"s", "d"}, {"s", ""}));
  EXPECT_EQ(ids("s", diff.common), (Ids{"a", "b"}));
  EXPECT_EQ(diff.sameEntries, 2u);
  EXPECT_EQ(ids("s", diff.left), (Ids{"c", "d"}));
  EXPECT_EQ(ids("s", diff.right), (Ids{"e", "f"}));
  diff = must(store->diffBranches({"s", "a"}, {"s", "d"}));
  EXPECT_TRUE(diff.left.empty());
  EXPECT_EQ(diff.right.size(), 3u);
  EXPECT_EQ(refused(store->diffBranches({"s", "nothing"}, {"s", ""})).code, ErrorCode::NotFound);
}

TEST_F(BranchesTest, OfTwoSessionsAreComparedByEntryThenByContent) {
  must(store->branchFromEntry("s", "d", {.sessionId = "fork"}));
  must(store->appendSessionEntries("fork", {said("user", "More", "x")}));
  auto diff = must(store->diffBranches({"s", "f"}, {"fork", ""}));
  EXPECT_EQ(diff.sameEntries, 2u);
  EXPECT_EQ(ids("s", diff.left), (Ids{"e", "f"}));
  EXPECT_EQ(ids("fork", diff.right), (Ids{"c", "d", "x"}));

  must(store->createSession({.sessionId = "copy"}));
  must(store->appendSessionEntries("copy", {said("user", "Hello", "1"), said("assistant", "Hi", "2"),
                                            said("user", "Joke", "3"), said("assistant", "Duck", "4")}));
  diff = must(store->diffBranches({"s", ""}, {"copy", ""}));
  EXPECT_EQ(diff.sameEntries, 0u);
  EXPECT_EQ(ids("s", diff.common), (Ids{"a", "b", "e"}));
  EXPECT_EQ(ids("s", diff.left), Ids{"f"});
  EXPECT_EQ(ids("copy", diff.right), Ids{"4"});

  must(store->createSession({.sessionId = "empty"}));
  diff = must(store->diffBranches({"empty", ""}, {"s", ""}));
  EXPECT_TRUE(diff.common.empty() && diff.left.empty());
  EXPECT_EQ(diff.right.size(), 4u);
}

TEST_F(BranchesTest, AReplayEndsInAnErrorWhenTheSessionIsReplacedMeanwhile) {
  for (const std::string id : {"old", "new"}) {
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> entries;
    for (int i = 0; i < 200; ++i) entries.push_back(said("user", "Go", id + std::to_string(i)));
    must(store->appendSessionEntries(id, std::move(entries)));
  }
  auto replay = must(SessionReplay::open(*store, "old"));
  EXPECT_EQ(must(replay.next())->entry.id, "old0");
  std::filesystem::rename(folder / "sessions/new.jsonl", folder / "sessions/old.jsonl");
  const Error error = refused(replay.nextFailure());
  EXPECT_TRUE(error.code == ErrorCode::Damaged && error.retryable) << error.message;
}

TEST_F(BranchesTest, AreReplayedWithTimesUpToTheFirstFailure) {
  must(store->createSession({.sessionId = "r"}));
  std::vector<Entry> entries;
  const auto add = [&](Entry entry, const std::string& time) {
    entry.timestamp = "2026-01-01T00:" + time + "Z";
    entries.push_back(std::move(entry));
  };
  const auto result = [](const std::string& id, bool failed) {
    return entryOf(
        "message",
        R"({"dialect":"anthropic","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t",)" +
            std::string(failed ? R"("is_error":true,)" : "") + R"("content":"x"}]}})",
        id);
  };
  add(said("user", "Go", "1"), "00:00");
  add(result("2", false), "00:01.500");
  add(result("3", true), "01:00");
  add(said("assistant", "Oh", "4"), "00:59");
  add(result("5", true), "02:00");
  must(store->appendSessionEntries("r", entries));

  auto replay = must(SessionReplay::open(*store, "r"));
  EXPECT_EQ(replay.size(), 5u);
  auto steps = must(replay.nextFailure());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].sinceStartMs, 1500u);
  EXPECT_FALSE(steps[1].failed);
  EXPECT_TRUE(steps[2].failed);
  EXPECT_EQ(steps[2].sincePreviousMs, 58'500u);
  steps = must(replay.nextFailure());
  ASSERT_EQ(steps.size(), 2u) << "it goes on where it stopped";
  EXPECT_EQ(steps[0].sincePreviousMs, 0u) << "a clock that went back";
  EXPECT_EQ(steps[1].entry.id, "5");
  EXPECT_FALSE(must(replay.next()).has_value());

  auto rest = must(SessionReplay::open(*store, "r", {.to = "4", .after = "3"}));
  steps = must(rest.nextFailure());
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].place, 4u);
  EXPECT_EQ(steps[0].sinceStartMs, 59'000u);
  EXPECT_EQ(refused(SessionReplay::open(*store, "r", {.to = "2", .after = "3"})).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(SessionReplay::open(*store, "r", {.to = "nothing"})).code, ErrorCode::NotFound);
  must(store->branchFromEntry("r", "3", {.sessionId = "again"}));
  EXPECT_EQ(must(SessionReplay::open(*store, "again")).size(), 3u);
}

TEST_F(BranchesTest, RedactedResultsAreNotLookedInto) {
  must(store->createSession({.sessionId = "r"}));
  must(store->appendSessionEntries(
      "r", {entryOf("message",
                    R"({"dialect":"openai-chat","message":{"role":"tool","tool_call_id":"t","content":"Error: x"}})",
                    "1")}));
  EXPECT_TRUE(must(must(SessionReplay::open(*store, "r")).nextFailure()).at(0).failed);
  must(store->redactEntry("r", "1", "me", "secret"));
  EXPECT_FALSE(must(must(SessionReplay::open(*store, "r")).nextFailure()).at(0).failed);
}

}  // namespace
}  // namespace bough
