// The cost of working at the end of a long shared history: the earlier part is neither read nor followed. The server
// counts rows.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "postgres/fresh_store.h"

namespace bough {
namespace {

class PostgresForks : public FreshPostgresStore {
 protected:
  // Returns how many rows of entries and sessions the server reads for `work`, including opening a store.
  std::int64_t rowsReadBy(const std::function<void(SessionStore&)>& work) {
    const std::int64_t before = rowsRead();
    {
      auto side = must(StoreSide::open(url_));
      work(*side.store);
    }
    return rowsRead() - before;
  }

  static Entry message(const std::string& id) {
    return {.id = id, .type = "message", .payload = R"({"role":"user","content":"hello"})"};
  }

  // Creates session f0 with entry e0, its fork f1 with e1, and so on.
  void makeLine(int forks) {
    auto side = must(StoreSide::open(url_));
    must(side.store->createSession({.sessionId = "f0"}));
    must(side.store->appendSessionEntries("f0", {message("e0")}));
    for (int i = 1; i <= forks; ++i) {
      must(side.store->branchFromEntry(fmt::format("f{}", i - 1), fmt::format("e{}", i - 1),
                                       {.sessionId = fmt::format("f{}", i)}));
      must(side.store->appendSessionEntries(fmt::format("f{}", i), {message(fmt::format("e{}", i))}));
    }
  }

 private:
  // The counts of a connection are complete only after it is closed.
  std::int64_t rowsRead() {
    while (sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> "
               "pg_backend_pid()") != "0") {
    }
    return std::stoll(
        sql(fmt::format("SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) FROM "
                        "pg_stat_user_tables WHERE schemaname = '{}' AND relname IN ('entries', "
                        "'sessions')",
                        schema_)));
  }
};

TEST_F(PostgresForks, TheEndOfALongSharedHistoryIsReadWithoutWhatIsBefore) {
  constexpr int kShared = 3000;
  constexpr std::int64_t kFew = 200;
  {
    auto side = must(StoreSide::open(url_));
    must(side.store->createSession({.sessionId = "long"}));
    std::vector<Entry> entries;
    for (int i = 0; i < kShared; ++i) entries.push_back(message(fmt::format("e{}", i)));
    must(side.store->appendSessionEntries("long", entries));
    must(side.store->branchFromEntry("long", fmt::format("e{}", kShared - 1), {.sessionId = "fork"}));
    must(side.store->appendSessionEntries("fork", {message("own1"), message("own2")}));
  }
  // `entries` has no statistics at first, and query plans must be good with and without them.
  for (const char* statistics : {"none", "ANALYZE"}) {
    if (statistics[0] == 'A') sql("ANALYZE");
    EXPECT_LT(rowsReadBy([](SessionStore& store) {
                const auto entries =
                    must(store.loadEntriesAt("fork", {kShared - 5, kShared - 1, kShared, kShared + 1}));
                EXPECT_EQ(entries[0].id, fmt::format("e{}", kShared - 6));
                EXPECT_EQ(entries[3].id, "own1");
              }),
              kFew)
        << statistics;
    EXPECT_LT(rowsReadBy([](SessionStore& store) {
                const auto entries = must(store.loadSessionEntries("fork", {.fromSequence = kShared - 2, .limit = 10}));
                ASSERT_EQ(entries.size(), 5U);
                EXPECT_EQ(entries[0].id, fmt::format("e{}", kShared - 3));
              }),
              kFew)
        << statistics;
    EXPECT_LT(rowsReadBy([](SessionStore& store) {
                const LoadOptions part{.fromSequence = kShared - 2, .limit = 3, .branch = "own2"};
                const auto entries = must(store.loadSessionEntries("fork", part));
                ASSERT_EQ(entries.size(), 3U);
                EXPECT_EQ(entries[0].id, fmt::format("e{}", kShared - 2));
              }),
              kFew)
        << statistics;
    EXPECT_LT(rowsReadBy([](SessionStore& store) {
                auto follower = must(store.follow("fork", "own1"));
                EXPECT_EQ(must(follower.next(0)).size(), 1U);
              }),
              kFew)
        << statistics;
  }
}

TEST_F(PostgresForks, AnOwnEntryIsFoundWithoutTheEntriesOfALongLineOfForks) {
  constexpr int kForks = 120;
  constexpr std::int64_t kFew = 3 * kForks;  // each load asks every session of the line for redactions
  makeLine(kForks);
  const std::string last = fmt::format("f{}", kForks);
  const std::string own = fmt::format("e{}", kForks);
  EXPECT_LT(rowsReadBy([&](SessionStore& store) { EXPECT_EQ(must(store.loadEntry(last, own)).id, own); }), kFew);
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              const auto entries = must(store.loadSessionEntries(last, {.last = 2, .branch = own}));
              ASSERT_EQ(entries.size(), 2U);
              EXPECT_EQ(entries[0].id, fmt::format("e{}", kForks - 1));
            }),
            kFew);
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              must(store.branchFromEntry(last, own, {.sessionId = "fork"}));
              must(store.appendSessionEntries("fork", {message("")}));
            }),
            kFew);
  auto side = must(StoreSide::open(url_));
  const auto entries = must(side.store->loadSessionEntries("fork"));
  EXPECT_EQ(entries.size(), static_cast<std::size_t>(kForks) + 3);  // including the header and its own entry
  EXPECT_EQ(must(side.store->sequenceOf("fork", "e3")), 4U);
  EXPECT_EQ(side.store->sequenceOf("fork", "nowhere").error().code, ErrorCode::NotFound);
}

TEST_F(PostgresForks, ALongLineOfForksIsFollowedOnceForAllThatASessionNamesOfIt) {
  constexpr int kForks = 60;
  constexpr int kNamed = 40;
  constexpr std::int64_t kOnce =
      10 * kForks * kForks;  // the table of sessions is so small that each step may read all of it
  makeLine(kForks);
  const std::string last = fmt::format("f{}", kForks);
  {
    auto side = must(StoreSide::open(url_));
    must(side.store->createSession({.sessionId = "other"}));  // enough rows for a good plan to matter
    must(side.store->appendSessionEntries("other", std::vector<Entry>(3000, message(""))));
    for (int i = 0; i < kNamed; ++i) {
      must(side.store->labelEntry(last, fmt::format("e{}", i), fmt::format("l{}", i)));
      Entry child = message("");
      child.parentId = fmt::format("e{}", i);
      must(side.store->appendSessionEntries(last, {child}));
    }
  }
  sql("ANALYZE");
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              const auto labels = must(store.labels(last));
              ASSERT_EQ(labels.size(), static_cast<std::size_t>(kNamed));
              EXPECT_EQ(labels.front().entryId, "e0");
            }),
            kOnce);
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              EXPECT_EQ(must(must(store.session(last)).tree()).branches().size(), static_cast<std::size_t>(kNamed) + 1);
            }),
            kOnce);
}

TEST_F(PostgresForks, TheLastEntriesAreLoadedWithoutTheRunsBeforeThem) {
  constexpr int kForks = 60;
  constexpr std::int64_t kFew = 4 * kForks;  // each load asks every session of the line for redactions
  makeLine(kForks);
  const std::string last = fmt::format("f{}", kForks);
  const auto ids = [](const std::vector<Entry>& entries) {
    std::string all;
    for (const Entry& entry : entries) all += entry.id + " ";
    return all;
  };
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              EXPECT_EQ(ids(must(store.loadSessionEntries(last, {.last = 1}))), "e60 ");
              EXPECT_EQ(ids(must(store.loadSessionEntries(last, {.last = 3}))), "e58 e59 e60 ");
            }),
            2 * kFew);
  EXPECT_LT(rowsReadBy([&](SessionStore& store) {
              EXPECT_EQ(ids(must(store.loadSessionEntries(last, {.fromSequence = kForks}))), "e59 e60 ");
              EXPECT_EQ(ids(must(store.loadEntriesAt(last, {kForks, kForks + 1}))), "e59 e60 ");
            }),
            2 * kFew);
  auto side = must(StoreSide::open(url_));
  const auto all = must(side.store->loadSessionEntries(last, {.last = kForks + 2}));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kForks) + 2);
  EXPECT_EQ(all[0].type, entry_type::kSessionHeader);
  EXPECT_EQ(all[1].id, "e0");
  EXPECT_EQ(ids(must(side.store->loadSessionEntries(last, {.last = 2, .type = "message"}))), "e59 e60 ");
}

TEST_F(PostgresForks, WhatAForkContinuesStaysWhileItComesBackFromTheTrash) {
  auto store = must(SessionStore::open(url_));
  auto other = must(SessionStore::open(url_));
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("a")}));
  must(store->branchFromEntry("p", "a", {.sessionId = "f"}));
  const std::string trashId = must(store->trashSession("f")).trashId;
  std::thread restoring;
  std::thread removing;
  Result<void> restored;
  std::optional<Result<TrashedSession>> removed;
  std::atomic<bool> isRemoved = false;
  const auto waiting = [] { return sql("SELECT count(*) FROM pg_locks WHERE NOT granted"); };
  whileLocked("SELECT 1 FROM @.sessions WHERE session_id = 'f' FOR UPDATE", [&] {
    restoring = std::thread([&] { restored = store->restoreSession(trashId); });
    while (waiting() == "0") std::this_thread::yield();
    removing = std::thread([&] {
      removed = other->trashSession("p");
      isRemoved = true;
    });
    while (waiting() == "1" && !isRemoved) std::this_thread::yield();
  });
  restoring.join();
  removing.join();
  EXPECT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(refused(*removed).code, ErrorCode::HasForks);
  EXPECT_EQ(must(store->loadSessionEntries("f", {.branch = ""})).size(), 1U);
}

}  // namespace
}  // namespace bough
