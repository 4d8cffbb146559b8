// A session's row says what its log says.
#include "catalog_support.h"

namespace bough {
namespace {

TEST_F(CatalogTest, CountsMessagesByRole) {
  make({.sessionId = "a"}, {said("system", "be kind"), said("user", "hi"), answered(textBlock("hello"), "m1"),
                            answered(callBlock("t1", "ls"), "m2", "msg2"), resulted("t1", "a b", true, "m3")});
  const SessionSummary found = row("a");
  EXPECT_EQ(found.systemMessages, 1u);
  EXPECT_EQ(found.userMessages, 1u);
  EXPECT_EQ(found.assistantMessages, 2u);
  EXPECT_EQ(found.toolMessages, 1u);
  EXPECT_EQ(found.toolCalls, 1u);
  EXPECT_EQ(found.toolFailures, 1u);
  EXPECT_EQ(found.entries, 6u);
  EXPECT_EQ(found.branches, 1u);
  EXPECT_EQ(found.headId, "m3");
  EXPECT_GT(found.bytes, 0u);
  EXPECT_EQ(found.tokens.inputTokens, 20u);
  EXPECT_EQ(found.tokens.cacheReadTokens, 200u);
  EXPECT_EQ(found.condition, SessionCondition::Live);
}

TEST_F(CatalogTest, AnAnswerStoredBlockByBlockCountsItsUsageOnce) {
  make({.sessionId = "a"}, {answered(textBlock("one"), "m1", "msg1"), answered(callBlock("t", "x"), "m2", "msg1")});
  EXPECT_EQ(row("a").tokens.outputTokens, 5u);
}

TEST_F(CatalogTest, AForkAddsNothingForWhatItShares) {
  make({.sessionId = "a"}, {said("user", "hi", "u1"), answered(textBlock("yes"), "m1")});
  must(store->branchFromEntry("a", "m1", {.sessionId = "b"}));
  append("b", {said("user", "more", "u2"), answered(textBlock("ok"), "m2")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->session("b")).userMessages, 1u);
  EXPECT_EQ(must(catalog->session("b")).tokens.inputTokens, 10u);
  EXPECT_EQ(must(catalog->session("b")).origin->sessionId, "a");
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Model})).total.tokens.inputTokens, 20u);
}

TEST_F(CatalogTest, EveryLeafIsABranch) {
  make({.sessionId = "a"}, {message("1", "e1"), message("2", "e2"), message("3", "e3"), message("4", "e4", "e1"),
                            message("5", "e5", "e4"), message("6", "e6", "e2")});
  EXPECT_EQ(row("a").branches, 3u);
}

TEST_F(CatalogTest, AHeadThatIsACallWithoutAResultIsUnfinished) {
  make({.sessionId = "a"}, {said("user", "do", "u1"), answered(callBlock("t1", "ls") + "," + callBlock("t2", "pwd"))});
  EXPECT_EQ(row("a").condition, SessionCondition::Unfinished);
  append("a", {resulted("t1", "x")});
  EXPECT_EQ(row("a").condition, SessionCondition::Unfinished);
  append("a", {resulted("t2", "y")});
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
}

TEST_F(CatalogTest, MovingTheHeadAwayFromACallFinishesIt) {
  make({.sessionId = "a"}, {said("user", "do", "u1"), answered(callBlock("t1", "ls"))});
  must(store->moveHead("a", "u1"));
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
}

TEST_F(CatalogTest, AnArchivedSessionIsArchivedUntilItIsAppendedTo) {
  make({.sessionId = "a"}, {said("user", "hi", "u1")});
  row("a");
  must(store->archiveSession("a"));
  EXPECT_EQ(row("a").condition, SessionCondition::Archived);
  EXPECT_EQ(row("a").userMessages, 1u);
  append("a", {said("user", "again")});
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
  EXPECT_EQ(row("a").userMessages, 2u);
}

TEST_F(CatalogTest, TheTitleIsTheBeginningOfTheFirstUserMessage) {
  make({.sessionId = "a"},
       {answered(textBlock("no title")), said("user", "  Write\n a   poem about 春 and 👩‍👩‍👧  ")});
  EXPECT_EQ(row("a").title, "Write a poem about 春 and 👩‍👩‍👧");
  EXPECT_EQ(row("a").titleSource, TitleSource::Message);
}

TEST_F(CatalogTest, AGivenTitleIsNeverOverwritten) {
  make({.sessionId = "a"}, {said("user", "first words")});
  must(appendSessionInfo(*store, "a", {.title = "generated", .titleSource = TitleSource::Generated}));
  EXPECT_EQ(row("a").title, "generated");
  must(appendSessionInfo(*store, "a", {.title = "given"}));
  must(appendSessionInfo(*store, "a", {.title = "generated again", .titleSource = TitleSource::Generated}));
  append("a", {said("user", "more words")});
  EXPECT_EQ(row("a").title, "given");
  must(appendSessionInfo(*store, "a", {.title = "given anew"}));
  EXPECT_EQ(row("a").title, "given anew");
  must(appendSessionInfo(*store, "a", {.title = ""}));
  EXPECT_EQ(row("a").title, "generated again");
}

TEST_F(CatalogTest, ATitleOfARedactedMessageGoes) {
  make({.sessionId = "a"}, {said("user", "my secret", "u1"), said("user", "something else", "u2")});
  EXPECT_EQ(row("a").title, "my secret");
  must(store->redactEntry("a", "u1", "me", "secret"));
  EXPECT_EQ(row("a").title, "something else");
}

TEST_F(CatalogTest, PinsAndTimesToLiveAreTheLastOnesSaid) {
  make({.sessionId = "a"});
  must(appendSessionInfo(*store, "a", {.pinned = true, .timeToLiveMs = 5000}));
  EXPECT_TRUE(row("a").pinned);
  EXPECT_EQ(row("a").timeToLiveMs, 5000u);
  must(appendSessionInfo(*store, "a", {.pinned = false, .timeToLiveMs = 0}));
  EXPECT_FALSE(row("a").pinned);
  EXPECT_FALSE(row("a").timeToLiveMs.has_value());
}

TEST_F(CatalogTest, KeysOfBothFormsNameTheirAgent) {
  make({.sessionId = "a", .key = "main:cli:user"});
  make({.sessionId = "b", .key = "agent:helper:telegram:dm:42:7"});
  make({.sessionId = "c", .key = "whatever"});
  EXPECT_EQ(row("a").agent, "main");
  EXPECT_EQ(row("b").agent, "helper");
  EXPECT_EQ(row("c").agent, "");
  EXPECT_EQ(parseSessionKey("agent:helper:telegram:dm:42:7")->peer, "42:7");
}

TEST_F(CatalogTest, AKeyNamesTheSessionMadeLastAndNoOther) {
  make({.sessionId = "a", .key = "main:cli:user"});
  EXPECT_EQ(must(open()->currentSession("main:cli:user")), "a");
  make({.sessionId = "z", .key = "main:cli:user2"});
  make({.sessionId = "b", .key = "main:cli:user"});
  append("a", {said("user", "the old one is still there")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->currentSession("main:cli:user")), "b");
  EXPECT_EQ(must(catalog->currentSession("main:cli:user2")), "z");
  EXPECT_EQ(must(catalog->currentSession("main:cli:use")), std::nullopt);
  EXPECT_EQ(must(catalog->currentSession("Main:cli:user")), std::nullopt);
  EXPECT_EQ(must(catalog->currentSession("")), std::nullopt);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "main:cli:user"}})).size(), 2u);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "main:cli:*"}})).size(), 3u);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "Main:*"}})).size(), 0u);
}

TEST_F(CatalogTest, TheSessionActiveLastComesFirst) {
  make({.sessionId = "a"}, {said("user", "x", "u1", "2026-01-01T00:00:00Z")});
  make({.sessionId = "b"}, {said("user", "x", "u1", "2035-01-01T00:00:00Z")});
  make({.sessionId = "c"}, {said("user", "x", "u1", "2034-01-01T00:00:00Z")});
  auto catalog = open();
  EXPECT_EQ(idsOf(must(catalog->list())), (Ids{"b", "c", "a"}));
  EXPECT_EQ(idsOf(must(catalog->list({.limit = 1, .skip = 1}))), (Ids{"c"}));
  EXPECT_EQ(must(catalog->count()), 3u);
}

TEST_F(CatalogTest, FiltersByFolderMeanWholeNames) {
  make({.sessionId = "a", .cwd = "/home/me/project"});
  make({.sessionId = "b", .cwd = "/home/me/project/src"});
  make({.sessionId = "c", .cwd = "/home/me/project2"});
  auto catalog = open();
  EXPECT_EQ(must(catalog->count({.cwd = "/home/me/project"})), 2u);
  EXPECT_EQ(must(catalog->count({.cwd = "/home/me/project/"})), 2u);
  EXPECT_EQ(must(catalog->count({.cwd = "/"})), 3u);
}

TEST_F(CatalogTest, NamesAreIdsThenKeysThenBeginningsThenTitles) {
  make({.sessionId = "abc", .title = "Poems"});
  make({.sessionId = "abd", .key = "ab:cli:me", .title = "Prose 100%"});
  auto catalog = open();
  EXPECT_EQ(must(catalog->findByName("abc")).kind, NameMatch::Kind::Id);
  EXPECT_EQ(must(catalog->findByName("ab:cli:me")).kind, NameMatch::Kind::Key);
  EXPECT_EQ(must(catalog->findByName("ab")).sessions.size(), 2u);
  EXPECT_EQ(idsOf(must(catalog->findByName("poem")).sessions), (Ids{"abc"}));
  EXPECT_EQ(idsOf(must(catalog->findByName("0%")).sessions), (Ids{"abd"}));
  EXPECT_EQ(must(catalog->findByName("%")).sessions.size(), 1u);
  EXPECT_EQ(must(catalog->findByName("nothing")).kind, NameMatch::Kind::None);
}

TEST_F(CatalogTest, ListingsAreRemembered) {
  make({.sessionId = "a"});
  auto catalog = open();
  must(catalog->rememberListing({"x", "y"}));
  EXPECT_EQ(must(open()->listed(2)), "y");
  EXPECT_EQ(refused(open()->listed(3)).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(open()->listed(0)).code, ErrorCode::NotFound);
}

TEST_F(CatalogTest, AStoreInMemoryHasACatalogInMemory) {
  store = must(SessionStore::open("memory:"));
  make({.sessionId = "a", .key = "m:c:p"}, {said("user", "hello")});
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->session("a")).title, "hello");
  append("a", {said("user", "world")});
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("world")).size(), 1u);
  must(store->deleteSession("a"));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->count()), 0u);
}

}  // namespace
}  // namespace bough
