// Appends to many sessions in one statement: each gets its own answer, whatever happens to the others.

#include <gtest/gtest.h>

#include "bough/store.h"
#include "store/postgres/postgres_backend.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

using postgres::PostgresBackend;

class PostgresChains : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    const std::string url = freshStoreUrl();
    must(initPostgresStore(url));
    backend_ = must(PostgresBackend::open(url, {}, jsonEntrySerializer(), systemEnvironment()));
    store_ = must(SessionStore::open({.backend = backend_}));
  }

  static Entry said(const std::string& text) {
    Entry entry;
    entry.type = "message";
    entry.payload = R"({"text":")" + text + R"("})";
    return entry;
  }
  void create(const std::string& id) { must(store_->createSession({.sessionId = id})); }

  std::vector<Result<AppendResult>> appendTogether(const std::vector<std::string>& ids,
                                                   std::vector<AppendRequest> requests) {
    std::vector<std::shared_ptr<StoredSession>> sessions;
    std::vector<StorageBackend::SessionAppend> batches;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      sessions.push_back(must(backend_->open(ids[i])));
      if (requests[i].entries.empty()) requests[i].entries.push_back(said("to " + ids[i]));
    }
    for (const auto& hook : beforeAppend_) hook();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      batches.push_back({.session = sessions[i].get(), .request = &requests[i]});
    }
    return backend_->append(batches);
  }

  std::shared_ptr<StorageBackend> backend_;
  std::unique_ptr<SessionStore> store_;
  std::vector<std::function<void()>> beforeAppend_;
};

TEST_F(PostgresChains, EachAppendOfAGroupHasItsOwnAnswer) {
  for (const char* id : {"z-plain", "tail", "turn", "origin", "gone", "twice", "A-plain"}) create(id);
  const auto origin = must(store_->appendSessionEntries("origin", {said("shared")})).lastAppendedEntryId;
  must(must(store_->session("origin")).fork(origin, {.sessionId = "fork"}));
  const Session turns = must(store_->session("turn"));
  const std::uint64_t early = must(turns.beginTurn());
  const std::uint64_t late = must(turns.beginTurn());
  beforeAppend_.push_back([&] { must(store_->trashSession("gone")); });
  const auto answers = appendTogether({"z-plain", "tail", "turn", "fork", "gone", "A-plain"},
                                      {{}, {.expectedTail = "elsewhere"}, {.turn = early}, {}, {}, {.turn = late}});
  ASSERT_EQ(answers.size(), 6U);
  ASSERT_TRUE(answers[0]);
  EXPECT_EQ(must(store_->sessionState("z-plain")).tailId, answers[0]->lastAppendedEntryId);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, ErrorCode::Conflict);
  EXPECT_EQ(answers[1].error().actualTail, must(store_->sessionState("tail")).tailId);
  ASSERT_FALSE(answers[2]);
  EXPECT_EQ(answers[2].error().latestTurn, late);
  ASSERT_TRUE(answers[3]);  // its head is in the shared history
  EXPECT_EQ(must(store_->loadEntry("fork", answers[3]->lastAppendedEntryId)).parentId, origin);
  ASSERT_FALSE(answers[4]);
  EXPECT_EQ(answers[4].error().code, ErrorCode::NotFound);
  ASSERT_TRUE(answers[5]);
  EXPECT_EQ(must(store_->loadSessionEntries("A-plain")).back().payload, R"({"text":"to A-plain"})");
  for (const char* id : {"z-plain", "tail", "turn", "fork", "A-plain"}) {
    EXPECT_EQ(must(store_->verifySession(id)).problemCount, 0U) << id;
  }
}

TEST_F(PostgresChains, TwoAppendsToOneSessionInAGroupFollowOneAnother) {
  create("a");
  create("twice");
  const std::string tail = must(store_->sessionState("twice")).tailId;
  const auto answers = appendTogether({"twice", "a", "twice"}, {{.expectedTail = tail}, {}, {}});
  for (const auto& answer : answers) ASSERT_TRUE(answer) << answer.error().message;
  const auto entries = must(store_->loadSessionEntries("twice"));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[2].parentId, entries[1].id);
  EXPECT_EQ(must(store_->verifySession("twice")).problemCount, 0U);
}

TEST_F(PostgresChains, LongChainsOfAllSizesGoOnFromTheHead) {
  create("s");
  std::size_t count = 1;
  for (const std::size_t size : {1U, 2U, 33U, 5000U, 1U}) {
    const auto appended = must(store_->appendSessionEntries("s", std::vector<Entry>(size, said("x"))));
    count += size;
    EXPECT_EQ(must(store_->sessionState("s")).tailId, appended.lastAppendedEntryId);
  }
  const auto entries = must(store_->loadSessionEntries("s", {.branch = must(store_->sessionState("s")).headId}));
  EXPECT_EQ(entries.size() + 1, count);  // the header is on no branch
  EXPECT_EQ(must(store_->verifySession("s")).problemCount, 0U);
}

// Batches over 20 MB are sent as several statements of one transaction.
TEST_F(PostgresChains, ALargeBatchIsStoredWholeOrNotAtAll) {
  constexpr std::size_t kCount = 200;
  const std::string text(100'000, 'x');
  std::vector<Entry> batch;
  for (std::size_t i = 0; i < kCount; ++i) {
    Entry entry{.id = fmt::format("e{}", i), .type = "message", .payload = R"({"text":")" + text + R"("})"};
    if (i % 60 == 59) entry.parentId = fmt::format("e{}", i / 2);  // in another statement
    batch.push_back(entry);
  }
  batch.push_back({.id = "l", .type = "label", .payload = R"({"entryId":"e3","name":"early"})"});
  batch.push_back({.id = "h", .type = "head", .payload = R"({"entryId":"e100"})"});
  batch.push_back({.id = "end", .type = "message", .payload = R"({"text":"end"})"});
  const auto memory = must(SessionStore::open("memory:"));
  must(memory->createSession({.sessionId = "s"}));
  must(memory->appendSessionEntries("s", batch));

  create("s");
  const std::string tail = must(store_->sessionState("s")).tailId;
  EXPECT_EQ(refused(store_->appendSessionEntries("s", batch, {.expectedTail = "other"})).code, ErrorCode::Conflict);
  std::vector<Entry> wrong = batch;
  wrong.push_back({.id = "x", .parentId = "nowhere", .type = "message", .payload = "{}"});
  EXPECT_FALSE(store_->appendSessionEntries("s", wrong));
  EXPECT_EQ(must(store_->sessionState("s")).entryCount, 1U);

  const auto stored = must(store_->appendSessionEntries("s", batch, {.expectedTail = tail}));
  EXPECT_EQ(stored.appendedCount, batch.size());
  EXPECT_EQ(stored.lastAppendedEntryId, "end");
  for (const char* const branch : {"end", "e199", "e150", "e59"}) {
    const auto mine = must(store_->loadSessionEntries("s", {.branch = branch}));
    const auto theirs = must(memory->loadSessionEntries("s", {.branch = branch}));
    ASSERT_EQ(mine.size(), theirs.size()) << branch;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      EXPECT_EQ(mine[i].id, theirs[i].id);
      EXPECT_EQ(mine[i].parentId, theirs[i].parentId);
      EXPECT_EQ(mine[i].payload, theirs[i].payload);
    }
  }
  EXPECT_EQ(must(store_->sessionState("s")).headId, "end");
  EXPECT_EQ(must(store_->labels("s")).front().entryId, "e3");
  EXPECT_EQ(must(store_->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(must(store_->appendSessionEntries("s", batch)).duplicateCount, batch.size());
}

}  // namespace
}  // namespace bough
