// Timeouts that an administrator sets for a role or a database: each causes an error that names it, and affects only
// that call.

#include <gtest/gtest.h>

#include <thread>

#include "bough/catalog.h"
#include "bough/store.h"
#include "postgres/fresh_store.h"
#include "support/entries.h"

namespace bough {
namespace {

class PostgresTimeout : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    role_ = "patient_" + schema_;
    runSql(sharedServer(), "CREATE ROLE " + role_ + " LOGIN");
    must(grantPostgresStore(url_, role_, "keeper"));
    auto store = must(SessionStore::open(url_));
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {message("x", "a")}));
  }

  [[nodiscard]] std::unique_ptr<SessionStore> openWith(const std::string& setting, int timeoutMs = 20'000) const {
    runSql(sharedServer(), "ALTER ROLE " + role_ + " SET " + setting);
    StoreOptions options;
    options.lockTimeoutMs = timeoutMs;
    return must(SessionStore::open(sharedServer().url(schema_, role_), options));
  }
  static void expectGood(SessionStore& store, const Ids& expected) {
    EXPECT_EQ(bough::idsOf(store, "s"), expected);
    EXPECT_EQ(must(store.verifySession("s")).problemCount, 0U);
    auto catalog = must(Catalog::open(store));
    must(catalog->catchUp({.search = true}));
    EXPECT_EQ(must(catalog->session("s")).entries, expected.size() + 1);
  }

  std::string role_;
};

constexpr const char* kRow = "SELECT 1 FROM @.sessions WHERE session_id = 's' FOR UPDATE";
constexpr const char* kTables = "LOCK TABLE @.sessions, @.entries, @.catalog_sessions";

TEST_F(PostgresTimeout, AStatementThatWasCancelledIsToldAndTheStoreGoesOn) {
  auto store = openWith("statement_timeout = 200");
  whileLocked(kTables, [&] {
    for (int i = 0; i < 2; ++i) {
      for (const Error& error :
           {refused(store->loadSessionEntries("s")), refused(store->appendSessionEntries("s", {message("x", "b")})),
            refused(store->loadSessionEntries("s", {.branch = ""})), refused(store->verifySession("s")),
            refused(store->trashSession("s"))}) {
        EXPECT_EQ(error.code, ErrorCode::Timeout) << error.message;
        EXPECT_TRUE(error.retryable);
        EXPECT_TRUE(error.hint.contains("statement_timeout")) << error.hint;
      }
    }
  });
  must(store->appendSessionEntries("s", {message("x", "b")}));
  expectGood(*store, {"a", "b"});
}

TEST_F(PostgresTimeout, ALockThatWasNotGotIsTriedAgainUntilTheTimeIsOver) {
  auto store = openWith("lock_timeout = 50", 500);
  whileLocked(kRow, [&] {
    const Error busy = refused(store->appendSessionEntries("s", {message("x", "b"), message("x", "c")}));
    EXPECT_EQ(busy.code, ErrorCode::Busy) << busy.message;
    EXPECT_TRUE(busy.retryable);
    EXPECT_EQ(bough::idsOf(*store, "s"), (Ids{"a"}));
  });
  auto patient = openWith("lock_timeout = 50");
  std::thread writer;
  whileLocked(kRow, [&] {
    writer = std::thread([&] { must(patient->appendSessionEntries("s", {message("x", "b")})); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  writer.join();
  expectGood(*patient, {"a", "b"});
}

TEST_F(PostgresTimeout, ConnectionsThatTheServerEndsAreMadeAgain) {
  for (const std::string id : {"idle_in_transaction_session_timeout", "idle_session_timeout"}) {
    auto store = openWith(id + " = 100");
    auto follower = must(store->follow("s"));
    must(follower.next(5000));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    must(store->appendSessionEntries("s", {message("x", id)}));
    EXPECT_EQ(must(follower.next(20'000)).size(), 1U);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(bough::idsOf(*store, "s").back(), id);
    const auto trashed = must(store->trashSession("s"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    must(store->restoreSession(trashed.trashId));
  }
}

}  // namespace
}  // namespace bough
