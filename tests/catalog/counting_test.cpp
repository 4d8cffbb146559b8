// Each paid request is counted once, however many copies exist.
#include "catalog_support.h"

namespace bough {
namespace {

// An answer whose provider reported no usage.
Entry withoutUsage(const std::string& messageId, const std::string& time) {
  Entry entry = entryOf(entry_type::kMessage,
                        R"({"dialect":"openai-chat","message":{"id":")" + messageId +
                            R"(","model":"m","choices":[{"message":{"role":"assistant","content":"a"}}]}})");
  entry.meta = R"({"agent":"bough","usage":null})";
  entry.timestamp = time;
  return entry;
}

class CountingTest : public CatalogTest {
 protected:
  std::uint64_t totalInput() {
    const UsageRow here = must(open()->usage()).total;
    auto anew = must(Catalog::open(*store, {.inMemory = true}));
    must(anew->catchUp());
    const UsageRow there = must(anew->usage()).total;
    EXPECT_EQ(here.messages, there.messages) << "step by step is not what one made from nothing says";
    EXPECT_EQ(here.tokens.inputTokens, there.tokens.inputTokens);
    EXPECT_EQ(here.withoutId, 0U);
    for (const UsageBy by : {UsageBy::Session, UsageBy::Key, UsageBy::Model, UsageBy::Month}) {
      const UsageRow same = must(anew->usage({.by = by})).total;
      EXPECT_EQ(same.messages, here.messages) << static_cast<int>(by);
      EXPECT_EQ(same.tokens.inputTokens, here.tokens.inputTokens) << static_cast<int>(by);
    }
    return here.tokens.inputTokens;
  }
};

// The agent names its requests by provider and model; answers have only the model.
TEST_F(CountingTest, ATitleIsCountedWithTheModelThatGaveIt) {
  make({.sessionId = "a"},
       {said("user", "hello"), answered(textBlock("hi"), "e1", "msg1", "claude-sonnet-4-5"),
        entryOf(entry_type::kCustom, R"({"kind":"request","purpose":"title","model":"anthropic/claude-sonnet-4-5",)"
                                     R"("usage":{"inputTokens":7,"outputTokens":3}})")});
  const auto rows = must(open()->usage({.by = UsageBy::Model})).rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "claude-sonnet-4-5");
  EXPECT_EQ(rows[0].messages, 2u);
  EXPECT_EQ(rows[0].tokens.inputTokens, 17u);
}

// A server may leave out which model answered; the agent's `meta` has it.
TEST_F(CountingTest, AnAnswerWithoutAModelIsCountedWithTheOneThatWasAsked) {
  Entry answer = answered(textBlock("hi"), "e1", "msg1", "");
  answer.meta = R"({"agent":"bough","model":"gemini/gemini-3.8-flash"})";
  make({.sessionId = "a"},
       {said("user", "hello"), answer,
        entryOf(entry_type::kCustom, R"({"kind":"turn","model":"gemini/gemini-3.8-flash","durationMs":5})"),
        answered(textBlock("ho"), "e2", "msg2", "")});
  const auto rows = must(open()->usage({.by = UsageBy::Model})).rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "gemini-3.8-flash");
  EXPECT_EQ(rows[0].messages, 2u);
}

TEST_F(CountingTest, ADetachedForkCountsNothingTwice) {
  for (const std::string messageId : {"msg_01ABCDEFGHJKLMNPQRST", "m1", ""}) {
    SCOPED_TRACE(messageId);
    const std::string s = "s" + std::to_string(messageId.size());
    const std::uint64_t before = totalInput();
    make({.sessionId = s}, {said("user", "hi", "u"), answered(textBlock("one"), "a", messageId)});
    must(store->branchFromEntry(s, "a", {.sessionId = s + "-fork"}));
    append(s + "-fork", {answered(textBlock("two"), "b")});
    EXPECT_EQ(totalInput(), before + 20);
    must(store->branchFromEntry(s + "-fork", "b", {.sessionId = s + "-deep"}));
    for (const std::string part : {"-deep", "-fork"}) {
      must(store->maintenance().detach(s + part));
      EXPECT_EQ(totalInput(), before + 20) << part;
    }
    // When the forked session is removed, its copies still have the costs.
    must(store->trashSession(s));
    EXPECT_EQ(totalInput(), before + 20);
    const auto trash = must(store->listTrash());
    must(store->restoreSession(trash.front().trashId));
    EXPECT_EQ(totalInput(), before + 20);
  }
}

// A detached fork knows where its history began, even when the forks in between are gone.
TEST_F(CountingTest, AChainOfForksIsCountedOnceInWhicheverOrderItIsTakenApart) {
  std::vector<std::string> order{"", "-1", "-2"};
  int round = 0;
  std::uint64_t before = 0;
  do {
    SCOPED_TRACE(order[0] + " then " + order[1]);
    const std::string s = "s" + std::to_string(++round);
    make({.sessionId = s}, {said("user", "hi", "u"), answered(textBlock("one"), "a", "m1")});
    must(store->branchFromEntry(s, "a", {.sessionId = s + "-1"}));
    append(s + "-1", {answered(textBlock("two"), "b")});
    must(store->branchFromEntry(s + "-1", "b", {.sessionId = s + "-2"}));
    append(s + "-2", {answered(textBlock("three"), "c", "m3")});
    must(store->branchFromEntry(s + "-2", "c", {.sessionId = s + "-3"}));
    before += 30;
    for (const std::string& part : order) {
      must(store->trashSession(s + part, {.detachForks = true}));
      EXPECT_EQ(totalInput(), before) << part;
    }
    // A new session of that name is not the origin of the copy.
    make({.sessionId = s + "-2"}, {answered(textBlock("other"), "c", "m3")});
    before += 10;
    EXPECT_EQ(totalInput(), before);
    for (const TrashedSession& trashed : must(store->listTrash())) {
      if (!trashed.sessionId.ends_with("-2")) must(store->restoreSession(trashed.trashId));
    }
    EXPECT_EQ(totalInput(), before);
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(CountingTest, AnAnswerStoredInPartsIsCountedOnce) {
  for (const std::string id : {"m1", "msg_01ABCDEFGHJKLMNPQRST"}) {
    const std::uint64_t before = totalInput();
    make({.sessionId = id}, {answered(textBlock("one"), "a", id), answered(callBlock("t1", "ls"), "b", id),
                             resulted("t1", "x", false, "c"), answered(callBlock("t2", "ls"), "d", id)});
    EXPECT_EQ(totalInput(), before + 10);
    append(id, {answered(textBlock("late"), "e", id), answered(textBlock("next"), "f", id + "2")});
    EXPECT_EQ(totalInput(), before + 20);
  }
}

TEST_F(CountingTest, ASessionThatWasCopiedUnderAnotherIdAddsOnlyWhatIsNew) {
  const std::string id = "msg_01ABCDEFGHJKLMNPQRST";
  make({.sessionId = "b"}, {answered(textBlock("one"), "a", id)});
  EXPECT_EQ(totalInput(), 10U);
  make({.sessionId = "a"}, {answered(textBlock("one"), "x", id), answered(textBlock("two"), "y", id + "2")});
  EXPECT_EQ(totalInput(), 20U);
}

TEST_F(CountingTest, OfCopiesThatDifferTheOneOfTheFirstSessionCounts) {
  const std::string id = "msg_01ABCDEFGHJKLMNPQRST";
  const auto copy = [&](const std::string& model, int input, const std::string& day) {
    return answered(textBlock("one"), "e1", id, model, input, 5, "2026-01-" + day + "T00:00:00.000Z");
  };
  make({.sessionId = "b"}, {copy("claude-sonnet-4-5", 40, "01")});
  make({.sessionId = "a"}, {copy("claude-opus-4-1", 30, "02")});
  make({.sessionId = "c"}, {copy("claude-sonnet-4-5", 50, "03")});
  EXPECT_EQ(totalInput(), 30U);
  const auto days = must(open()->usage({.by = UsageBy::Day, .localTime = false})).rows;
  ASSERT_EQ(days.size(), 1U);
  EXPECT_EQ(days.front().name, "2026-01-02");
  const auto models = must(open()->usage({.by = UsageBy::Model})).rows;
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models.front().name, "claude-opus-4-1");
  const auto others = must(open()->usage({.by = UsageBy::Model, .model = "claude-sonnet-4-5"})).total;
  EXPECT_EQ(others.tokens.inputTokens, 40U);
}

TEST_F(CountingTest, SessionsOfTheirOwnWithTheSameShortIdsAreAllCounted) {
  const std::string time = "2026-01-01T00:00:00.000Z";
  for (const char* id : {"a", "b", "c"}) {
    make({.sessionId = id}, {answered(textBlock("one"), "e1", "m1", "claude-sonnet-4-5", 10, 5, time)});
  }
  EXPECT_EQ(totalInput(), 30U);
}

// The catalog maintains sums by time and model; sums by session are computed from the answers themselves.
TEST_F(CountingTest, SumsThatAreKeptAreThoseOfTheAnswers) {
  std::uint64_t state = 42;
  const auto roll = [&](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  Ids live;
  for (int step = 0; step < 60; ++step) {
    SCOPED_TRACE(step);
    const std::uint64_t kind = roll(8);
    if (live.empty() || kind == 0) live.push_back(make({.sessionId = "s" + std::to_string(step)}));
    std::string& session = live[roll(live.size())];
    if (kind == 1) {
      must(store->trashSession(session));
      if (roll(2) == 0) {
        must(store->restoreSession(must(store->listTrash()).front().trashId));
      } else {
        live.erase(std::ranges::find(live, session));
      }
    } else {
      // Few ids, so that many answers are copies of others or of an unfinished answer.
      const std::string answer = "msg_01ABCDEFGHJKLMNPQR" + std::to_string(10 + roll(12));
      const std::string time = "2026-01-0" + std::to_string(1 + roll(3)) + "T00:00:00.000Z";
      append(session,
             {answered(textBlock("one"), "", roll(4) == 0 ? "" : answer, roll(2) == 0 ? "claude-opus-4-1" : "m",
                       static_cast<int>(roll(50)), static_cast<int>(roll(9)), time)});
      if (roll(4) == 0) append(session, {withoutUsage(roll(2) == 0 ? "" : answer, time)});
    }
    const auto catalog = open();
    for (const bool some : {false, true}) {
      UsageOptions options{.by = UsageBy::Session};
      if (some) options.model = "m";
      const UsageRow wanted = must(catalog->usage(options)).total;
      for (const UsageBy by : {UsageBy::Model, UsageBy::Day}) {
        options.by = by;
        const UsageRow kept = must(catalog->usage(options)).total;
        EXPECT_EQ(kept.messages, wanted.messages);
        EXPECT_EQ(kept.withoutId, wanted.withoutId);
        EXPECT_EQ(kept.withoutUsage, wanted.withoutUsage);
        EXPECT_EQ(kept.tokens.inputTokens, wanted.tokens.inputTokens);
        EXPECT_EQ(kept.tokens.outputTokens, wanted.tokens.outputTokens);
        EXPECT_EQ(kept.tokens.cacheReadTokens, wanted.tokens.cacheReadTokens);
      }
    }
  }
}

TEST_F(CountingTest, ASummaryThatAMigrationCopiedIsNotPaidForAgain) {
  const std::string payload = R"({"summary":"s","firstKeptEntryId":"u","model":"claude-sonnet-4-5","usage":)"
                              R"({"inputTokens":10,"outputTokens":5}})";
  make({.sessionId = "a"}, {said("user", "hi", "u"), entryOf(entry_type::kCompactionSummary, payload, "c")});
  EXPECT_EQ(totalInput(), 10U);
  Entry copy = entryOf(entry_type::kCompactionSummary, payload, "d");
  Entry request = entryOf(entry_type::kCustom, R"({"kind":"request","model":"m","usage":{"inputTokens":7}})", "r");
  copy.meta = request.meta = R"({"migration":{"sources":[{"entryId":"c"}]}})";
  make({.sessionId = "b"}, {said("user", "hi", "u"), copy, request});
  EXPECT_EQ(totalInput(), 10U);
}

}  // namespace
}  // namespace bough
