// The catalog of a PostgreSQL store where it differs from others: round trips, the query plan of a list, several
// processes and roles. Its answers are tested by tests/catalog, which also runs on PostgreSQL.

#include "bough/catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "postgres/fresh_store.h"
#include "postgres/proxy.h"
#include "store/postgres/catalog/postgres_catalog.h"
#include "store/postgres/schema/schema.h"
#include "support/entries.h"

namespace bough {
namespace {

Entry said(const std::string& id, const std::string& text) {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload =
      R"({"dialect":"bough","message":{"role":"user","content":[{"type":"text","text":")" + text + R"("}]}})";
  return entry;
}

class PostgresCatalogTest : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    store_ = must(SessionStore::open(url_));
  }
  std::unique_ptr<Catalog> open(bool search = false) {
    auto catalog = must(Catalog::open(*store_));
    must(catalog->catchUp({.search = search}));
    return catalog;
  }

  std::unique_ptr<SessionStore> store_;
};

TEST_F(PostgresCatalogTest, SessionsWithAProblemAreFoundByIt) {
  for (const char* id : {"sound", "open", "damaged"}) must(store_->createSession({.sessionId = id}));
  auto catalog = open();
  EXPECT_TRUE(must(catalog->list({.filter = {.withProblem = true}})).empty());
  runSql(sharedServer(), "UPDATE " + schema_ + ".catalog_sessions SET problem = 'its end' WHERE session_id <> 'sound'");
  std::set<std::string> found;
  for (const SessionSummary& row : must(catalog->list({.filter = {.withProblem = true}}))) {
    found.insert(row.sessionId);
    EXPECT_EQ(row.problem, "its end");
  }
  EXPECT_EQ(found, (std::set<std::string>{"damaged", "open"}));
}

TEST_F(PostgresCatalogTest, TheNewestOfTwoHundredThousandSessionsAreAnIndexScan) {
  runSql(sharedServer(), "INSERT INTO " + schema_ + R"sql(.catalog_sessions
    SELECT 's' || n, 1, 1, 1, 'main:cli:' || n, 'agent' || n % 50, '', '/home/me/' || n % 100, 'Title ' || n, '', '', 'head', '', 1,
           n, n, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 3, 900, 1, 0, false, NULL, 0, 0, ARRAY['tip'], 'rest'
    FROM generate_series(1, 200000) AS n; ANALYZE )sql" +
                             schema_ + ".catalog_sessions");
  const auto planOf = [&](const ListOptions& options) {
    postgres::Pool pool(must(postgres::parseLocation(url_)));
    postgres::Composed select = postgres::selectSorted(postgres::summaryColumns(), options);
    const std::string sql = "EXPLAIN " + postgres::inSchema(select.sql, pool.location().schema);
    const auto rows = must(pool.run({.sql = sql, .parameters = select.parameters}));
    std::string plan;
    for (int row = 0; row < rows.size(); ++row) plan += rows.string(row, 0) + "\n";
    return plan;
  };
  const std::string newest = planOf({.limit = 50});
  EXPECT_TRUE(newest.contains("Index Scan using catalog_newest ")) << newest;
  EXPECT_FALSE(newest.contains("Sort") || newest.contains("Seq Scan")) << newest;
  const std::string ofAgent = planOf({.filter = {.agent = "agent7"}, .limit = 50});
  EXPECT_TRUE(ofAgent.contains("Index Scan using catalog_newest_by_agent ")) << ofAgent;
  EXPECT_FALSE(ofAgent.contains("Sort") || ofAgent.contains("Seq Scan")) << ofAgent;
  const auto rows = must(must(Catalog::open(*store_))->list({.limit = 50}));
  ASSERT_EQ(rows.size(), 50U);
  EXPECT_EQ(rows.front().sessionId, "s200000");
  EXPECT_EQ(rows.back().sessionId, "s199951");
}

// Content that is erased while a catalog is taking it in is not stored, neither for a new session nor for one that
// grew.
TEST_F(PostgresCatalogTest, WhatWasErasedInBetweenIsNotKept) {
  must(store_->createSession({.sessionId = "s"}));
  must(store_->appendSessionEntries("s", {said("a", "secretone harmless")}));
  auto other = must(SessionStore::open(url_));
  const auto erase = [&](const std::string& id) {
    must(other->maintenance().erase({.sessionId = "s", .entryIds = {id}, .by = "me", .reason = "why"}));
  };
  const auto holds = [&](const std::string& secret) {
    return runSql(sharedServer(), "SELECT count(*) FROM " + schema_ + ".catalog_sessions c WHERE c::text LIKE '%" +
                                      secret + "%'") != "0";
  };
  auto catalog = open();  // taken in, and stored with the next question
  erase("a");
  (void)must(catalog->list());
  EXPECT_FALSE(holds("secretone"));
  must(catalog->catchUp());
  must(store_->setTitle("s", "secrettwo"));
  must(catalog->catchUp());
  erase(must(store_->sessionState("s")).tailId);
  (void)must(catalog->list());
  EXPECT_FALSE(holds("secrettwo"));
  must(store_->appendSessionEntries("s", {said("c", "visible")}));
  must(catalog->catchUp({.search = true}));
  EXPECT_TRUE(must(catalog->search("secretone")).empty());
  EXPECT_EQ(must(catalog->search("visible")).size(), 1U);
}

// Stored with the next question, or when the store is closed without one.
TEST_F(PostgresCatalogTest, WhatNobodyAskedForIsKeptWhenTheStoreIsClosed) {
  must(store_->createSession({.sessionId = "s"}));
  must(store_->appendSessionEntries("s", {said("a", "alpha")}));
  open();
  store_.reset();
  EXPECT_EQ(runSql(sharedServer(), "SELECT count(*) FROM " + schema_ + ".catalog_sessions"), "1");
}

TEST_F(PostgresCatalogTest, ManyThreadsTakeInTheSameSessionsOnce) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = "s" + std::to_string(i);
    must(store_->createSession({.sessionId = id}));
    must(store_->appendSessionEntries(id, {said("a", "alpha"), said("b", "beta")}));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto store = must(SessionStore::open(url_));
      must(must(Catalog::open(*store))->catchUp({.search = true}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->count()), 20U);
  EXPECT_EQ(must(catalog->search("beta", {.limit = 100})).size(), 20U);
  for (const SessionSummary& row : must(catalog->list())) EXPECT_EQ(row.userMessages, 2U) << row.sessionId;
}

TEST_F(PostgresCatalogTest, AThrownAwaySessionIsGoneAtOnceAndComesBack) {
  must(store_->createSession({.sessionId = "s"}));
  must(store_->appendSessionEntries("s", {said("a", "needle")}));
  auto catalog = open(true);
  ASSERT_EQ(must(catalog->search("needle")).size(), 1U);
  const auto gone = must(store_->trashSession("s"));
  EXPECT_EQ(must(catalog->count()), 0U);
  EXPECT_TRUE(must(catalog->search("needle")).empty());
  must(store_->restoreSession(gone.trashId));
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("needle")).size(), 1U);
}

TEST_F(PostgresCatalogTest, OnlyWhatIsNewIsRead) {
  must(store_->createSession({.sessionId = "s"}));
  must(store_->appendSessionEntries("s", {said("a", "alpha"), said("b", "beta")}));
  auto catalog = must(Catalog::open(*store_));
  EXPECT_EQ(must(catalog->catchUp()).entries, 3U);
  EXPECT_EQ(must(catalog->catchUp()).sessions, 0U);
  must(store_->appendSessionEntries("s", {said("c", "gamma")}));
  const auto more = must(catalog->catchUp());
  EXPECT_EQ(more.sessions, 1U);
  EXPECT_EQ(more.entries, 1U);
  EXPECT_EQ(must(catalog->session("s")).userMessages, 3U);
  must(catalog->rebuild());
  EXPECT_EQ(must(catalog->session("s")).userMessages, 3U);
}

TEST_F(PostgresCatalogTest, OddBytesInTitlesAndTextsAreTakenIn) {
  must(store_->createSession({.sessionId = "s"}));
  must(store_->appendSessionEntries("s", {said("a", R"(nul \u0000 and \ud800 needle 🙂)")}));
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->count()), 1U);
  EXPECT_EQ(must(catalog->search("needle")).size(), 1U);
  EXPECT_FALSE(must(catalog->session("s")).title.empty());
}

// A single statement for all texts would exceed the timeout for the server.
TEST_F(PostgresCatalogTest, ManyTextsOfASessionAreKeptPartByPart) {
  must(store_->createSession({.sessionId = "s"}));
  const std::string hay(1 << 20, 'h');
  for (int i = 0; i < 10; ++i)
    must(store_->appendSessionEntries("s", {said("e" + std::to_string(i), hay + " needle")}));
  auto catalog = must(Catalog::open(*store_));
  must(catalog->catchUp({.search = true, .progress = [](const CatchUpProgress&) { return false; }}));
  const auto indexed = [&] { return sql("SELECT indexed FROM " + schema_ + ".catalog_sessions WHERE taken = 11"); };
  EXPECT_EQ(indexed(), "5");
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(indexed(), "11");
  EXPECT_EQ(must(catalog->search("needle")).size(), 10U);
}

TEST_F(PostgresCatalogTest, AReaderListsAndIsToldThatItCannotBringTheCatalogUpToDate) {
  must(store_->createSession({.sessionId = "s"}));
  EXPECT_EQ(must(open()->count()), 1U);
  const std::string role = "reader_of_" + schema_;
  runSql(sharedServer(), "CREATE ROLE " + role + " LOGIN");
  must(grantPostgresStore(url_, role, "reader"));
  auto reader = must(SessionStore::open(sharedServer().url(schema_, role)));
  auto catalog = must(Catalog::open(*reader));
  EXPECT_TRUE(catalog->catchUp());  // nothing is new
  must(store_->createSession({.sessionId = "t"}));
  const auto refused = catalog->catchUp();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
  EXPECT_EQ(must(catalog->count()), 1U);
}

}  // namespace
}  // namespace bough
