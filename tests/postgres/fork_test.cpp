// What it costs to work at the end of a long shared history: what is before is neither read nor followed. Rows are
// counted by the server.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "postgres/fresh_store.h"

namespace bough {
namespace {

class PostgresForks : public FreshPostgresStore {
 protected:
  // How many rows of entries and sessions the server reads for this, in a store that is opened for it.
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

 private:
  // A connection has told what it read when it is gone.
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
  // `entries` has no statistics at first, and a plan must be good with and without them.
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
  {
    auto side = must(StoreSide::open(url_));
    must(side.store->createSession({.sessionId = "f0"}));
    must(side.store->appendSessionEntries("f0", {message("e0")}));
    for (int i = 1; i <= kForks; ++i) {
      must(side.store->branchFromEntry(fmt::format("f{}", i - 1), fmt::format("e{}", i - 1),
                                       {.sessionId = fmt::format("f{}", i)}));
      must(side.store->appendSessionEntries(fmt::format("f{}", i), {message(fmt::format("e{}", i))}));
    }
  }
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
  EXPECT_EQ(entries.size(), static_cast<std::size_t>(kForks) + 3);  // with the header and the entry of its own
  EXPECT_EQ(must(side.store->sequenceOf("fork", "e3")), 4U);
  EXPECT_EQ(side.store->sequenceOf("fork", "nowhere").error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace bough
