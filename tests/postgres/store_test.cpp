// A PostgreSQL store where it differs from others: lost connections, races, several machines.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <set>
#include <thread>

#include "bough/store.h"
#include "postgres/fresh_store.h"
#include "postgres/proxy.h"

namespace bough {
namespace {

Entry message(const std::string& id, const std::string& text = "hello") {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

class PostgresStore : public FreshPostgresStore {
 protected:
  static std::unique_ptr<SessionStore> open(const std::string& url, int timeoutMs = 20'000) {
    StoreOptions options;
    options.lockTimeoutMs = timeoutMs;
    auto store = SessionStore::open(url, options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }

  // Checks that every entry exists once, in complete batches, in one order without gaps.
  static std::vector<std::string> idsOf(SessionStore& store, const std::string& session) {
    std::vector<std::string> ids;
    const auto entries = store.loadSessionEntries(session);
    EXPECT_TRUE(entries) << entries.error().message;
    for (const Entry& entry : *entries) ids.push_back(entry.id);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
    return ids;
  }
};

// The variants of append: the default for PostgreSQL, only the function, and only the single statement.
class PostgresAppend : public PostgresStore, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Forms, PostgresAppend, testing::Values("", "function", "statement"),
                         [](const auto& form) { return *form.param == '\0' ? "mixed" : std::string(form.param); });

TEST_P(PostgresAppend, AConnectionThatIsCutAtAnyStepLosesAndDoublesNothing) {
  PostgresProxy proxy(sharedServer());
  auto store = open(proxy.url(schema_) + "&append=" + GetParam());
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  std::vector<std::string> expected;
  for (int cut = 1; cut < 60; ++cut) {
    const std::string id = "e" + std::to_string(cut);
    proxy.cutAfter(cut);
    const auto appended = store->appendSessionEntries("s", {message(id + "a"), message(id + "b")});
    ASSERT_TRUE(appended) << "after " << cut << " messages: " << appended.error().message;
    const bool wasCut = proxy.hasCut();
    proxy.cutAfter(-1);
    expected.push_back(id + "a");
    expected.push_back(id + "b");
    auto ids = idsOf(*store, "s");
    ids.erase(ids.begin());
    ASSERT_EQ(ids, expected) << "after " << cut << " messages";
    if (!wasCut && cut > 10) return;
  }
  ADD_FAILURE() << "an append has too many messages";
}

// Ids that were made for a call are not looked up first, but an attempt whose answer was lost is still recognized.
TEST_P(PostgresAppend, EntriesWithoutIdsAreStoredOnceWhereverTheConnectionIsCut) {
  PostgresProxy proxy(sharedServer());
  auto store = open(proxy.url(schema_) + "&append=" + GetParam());
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  std::size_t count = 1;
  for (const bool withTail : {false, true}) {
    for (const std::size_t size : {1U, 3U}) {
      bool wasCut = true;
      for (int cut = 1; wasCut || cut < 10; ++cut) {
        AppendOptions options;
        if (withTail) options.expectedTail = store->sessionState("s")->tailId;
        proxy.cutAfter(cut);
        const auto appended = store->appendSessionEntries("s", std::vector<Entry>(size, message("")), options);
        ASSERT_TRUE(appended) << "after " << cut << " messages: " << appended.error().message;
        wasCut = proxy.hasCut();
        proxy.cutAfter(-1);
        count += size;
        EXPECT_EQ(appended->appendedCount, size);
        EXPECT_EQ(appended->duplicateCount, 0U);
        const auto state = store->sessionState("s");
        ASSERT_EQ(state->entryCount, count) << "after " << cut << " messages";
        ASSERT_EQ(state->tailId, appended->lastAppendedEntryId);
      }
    }
  }
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
}

TEST_P(PostgresAppend, AppendsThatGoTogetherAreStoredOnceWhereverTheConnectionIsCut) {
  constexpr int kSessions = 8;
  constexpr int kAppends = 15;
  PostgresProxy proxy(sharedServer());
  auto store = open(proxy.url(schema_) + "&append=" + GetParam());
  for (int i = 0; i < kSessions; ++i) ASSERT_TRUE(store->createSession({.sessionId = "s" + std::to_string(i)}));
  std::atomic<int> left = kSessions;
  std::vector<std::thread> writers;
  for (int i = 0; i < kSessions; ++i) {
    writers.emplace_back([&, session = "s" + std::to_string(i)] {
      for (int n = 0; n < kAppends; ++n) {
        const auto appended = store->appendSessionEntries(session, {message("")});
        EXPECT_TRUE(appended) << appended.error().message;
      }
      --left;
    });
  }
  for (int cut = 1; left > 0; cut = cut % 211 + 10) {  // an exchange has up to a hundred messages
    proxy.cutAfter(cut);
    while (left > 0 && !proxy.hasCut()) std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  proxy.cutAfter(-1);
  for (int i = 0; i < kSessions; ++i) {
    const std::string session = "s" + std::to_string(i);
    EXPECT_EQ(store->sessionState(session)->entryCount, kAppends + 1U) << session;
    EXPECT_EQ(store->verifySession(session)->problemCount, 0U) << session;
  }
}

TEST_F(PostgresStore, APartitionEndsWithAnErrorThatSaysHowToGoOn) {
  PostgresProxy proxy(sharedServer());
  auto store = open(proxy.url(schema_), 400);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  proxy.partition(true);
  const auto lost = store->appendSessionEntries("s", {message("a")});
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().code == ErrorCode::Unavailable || lost.error().code == ErrorCode::OutcomeUnknown);
  EXPECT_TRUE(lost.error().retryable);
  EXPECT_FALSE(lost.error().hint.empty());
  proxy.partition(false);
  const auto again = store->appendSessionEntries("s", {message("a")});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(idsOf(*store, "s").size(), 2U);
}

TEST_P(PostgresAppend, TheSameBatchOfManyClientsIsStoredOnce) {
  url_ += std::string("&append=") + GetParam();
  ASSERT_TRUE(open(url_)->createSession({.sessionId = "s"}));
  std::atomic<std::size_t> stored = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&] {
      auto store = open(url_);
      for (int number = 0; number < 30; ++number) {
        const std::string id = std::to_string(number);
        const auto appended = store->appendSessionEntries("s", {message(id + "a"), message(id + "b")});
        ASSERT_TRUE(appended) << appended.error().message;
        stored += appended->appendedCount;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  auto store = open(url_);
  EXPECT_EQ(idsOf(*store, "s").size(), 61U);
  EXPECT_EQ(stored, 60U);
  const auto report = store->verifySession("s");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->problemCount, 0U) << report->problems.front().message;
}

TEST_P(PostgresAppend, ThirtyTwoClientsRaceForTheTail) {
  constexpr int kClients = 32;
  constexpr int kEach = 5;
  url_ += std::string("&append=") + GetParam();
  ASSERT_TRUE(open(url_)->createSession({.sessionId = "s"}));
  std::vector<std::thread> clients;
  std::atomic<int> conflicts = 0;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      auto store = open(url_);
      for (int turn = 0; turn < kEach;) {
        const std::string id = "c" + std::to_string(client) + "-" + std::to_string(turn);
        const auto state = store->sessionState("s");
        ASSERT_TRUE(state) << state.error().message;
        const auto appended =
            store->appendSessionEntries("s", {message(id + "-a"), message(id + "-b")}, {.expectedTail = state->tailId});
        if (appended) {
          ++turn;
          continue;
        }
        ASSERT_EQ(appended.error().code, ErrorCode::Conflict) << appended.error().message;
        ++conflicts;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  auto store = open(url_);
  auto ids = idsOf(*store, "s");
  ASSERT_EQ(ids.size(), 1U + 2 * kClients * kEach);
  for (std::size_t i = 1; i < ids.size(); i += 2) {  // batches are complete
    EXPECT_EQ(ids[i].substr(0, ids[i].size() - 1), ids[i + 1].substr(0, ids[i + 1].size() - 1));
  }
  EXPECT_GT(conflicts, 0);
  const auto report = store->verifySession("s");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->problemCount, 0U) << report->problems.front().message;
}

TEST_F(PostgresStore, AFollowerSeesWhatAnotherProcessAppends) {
  auto writer = open(url_);
  ASSERT_TRUE(writer->createSession({.sessionId = "s"}));
  auto reader = open(url_);
  auto follower = reader->follow("s");
  ASSERT_TRUE(follower) << follower.error().message;
  ASSERT_EQ(follower->next(5000)->size(), 1U);  // the header
  std::thread appends([&] { ASSERT_TRUE(writer->appendSessionEntries("s", {message("a")})); });
  const auto seen = follower->next(20'000);
  appends.join();
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_EQ(seen->size(), 1U);
  EXPECT_EQ(seen->front().id, "a");
}

TEST_F(PostgresStore, AFollowerThatWasCutOffMissesNothingAndSeesNothingTwice) {
  PostgresProxy proxy(sharedServer());
  auto writer = open(url_);
  ASSERT_TRUE(writer->createSession({.sessionId = "s"}));
  auto reader = open(proxy.url(schema_), 200);
  auto follower = reader->follow("s");
  ASSERT_TRUE(follower) << follower.error().message;
  ASSERT_EQ(follower->next(5000)->size(), 1U);  // the header
  std::vector<std::string> expected;
  std::vector<std::string> seen;
  const auto look = [&](int timeoutMs) {
    const auto found = follower->next(timeoutMs);
    if (!found) {
      EXPECT_TRUE(found.error().retryable) << found.error().message;
      return;
    }
    for (const Entry& entry : *found) seen.push_back(entry.id);
  };
  for (int round = 0; round < 3; ++round) {
    proxy.partition(true);
    for (const char* name : {"a", "b"}) {
      expected.push_back(name + std::to_string(round));
      ASSERT_TRUE(writer->appendSessionEntries("s", {message(expected.back())}));
      look(100);
    }
    proxy.partition(false);
    for (int tries = 0; seen.size() < expected.size() && tries < 60; ++tries) look(1000);
    EXPECT_EQ(seen, expected);
  }
}

TEST_F(PostgresStore, VerifyFindsWhatWasChangedBehindItsBack) {
  auto store = open(url_);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->appendSessionEntries("s", {message("a"), message("b"), message("c")}));
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
  runSql(sharedServer(), "DELETE FROM " + schema_ + ".entries WHERE entry_id = 'b'");
  const auto report = store->verifySession("s");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->problemCount, 0U);
}

// Each removal holds one connection while it uses another one to check whether it may proceed.
TEST_F(PostgresStore, MoreRemovalsAtOnceThanConnectionsAllSucceed) {
  constexpr int kThreads = 24;
  const auto store = open(url_, 10'000);
  for (int i = 0; i < kThreads; ++i) ASSERT_TRUE(store->createSession({.sessionId = fmt::format("s{}", i)}));
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  std::vector<std::optional<Error>> errors(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      const auto done = store->trashSession(fmt::format("s{}", i));
      if (!done) errors[static_cast<std::size_t>(i)] = done.error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors) EXPECT_FALSE(error) << error->message;
  EXPECT_TRUE(store->listSessions()->empty());
}

TEST_F(PostgresStore, AnEmptyBranchIsTheHeads) {
  auto store = open(url_);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->createSession({.sessionId = "nothing"}));
  ASSERT_TRUE(store->appendSessionEntries("s", {message("a"), message("b"), message("c")}));
  ASSERT_TRUE(store->branchFromEntry("s", "b", {.sessionId = "f"}));
  ASSERT_TRUE(store->moveHead("s", "b"));
  for (const char* const session : {"s", "f"}) {
    const auto branch = store->loadSessionEntries(session, {.branch = ""});
    ASSERT_TRUE(branch) << branch.error().message;
    ASSERT_EQ(branch->size(), 2U);
    EXPECT_EQ(branch->back().id, "b");
  }
  const auto empty = store->loadSessionEntries("nothing", {.branch = ""});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_TRUE(empty->empty());
}

TEST_F(PostgresStore, RolesHaveNoMoreRightsThanTheyNeed) {
  runSql(sharedServer(), "CREATE ROLE only_appends LOGIN");
  runSql(sharedServer(), "CREATE ROLE only_reads LOGIN");
  const auto granted = grantPostgresStore(url_, "only_appends", "writer");
  ASSERT_TRUE(granted) << granted.error().message;
  ASSERT_TRUE(grantPostgresStore(url_, "only_reads", "reader"));
  auto writer = open(sharedServer().url(schema_, "only_appends"));
  ASSERT_TRUE(writer->createSession({.sessionId = "s"}));
  const auto appended = writer->appendSessionEntries("s", {message("a"), message("b")});
  ASSERT_TRUE(appended) << appended.error().message;
  EXPECT_TRUE(writer->branchFromEntry("s", "a", {.sessionId = "f"}));
  EXPECT_EQ(writer->trashSession("f").error().code, ErrorCode::ReadOnly);
  const auto erased = writer->deleteSession("f");
  ASSERT_FALSE(erased);
  EXPECT_EQ(erased.error().code, ErrorCode::ReadOnly) << erased.error().message;
  auto reader = open(sharedServer().url(schema_, "only_reads"));
  EXPECT_EQ(reader->loadSessionEntries("s")->size(), 3U);
  EXPECT_EQ(reader->appendSessionEntries("s", {message("c")}).error().code, ErrorCode::ReadOnly);
  runSql(sharedServer(), "DROP OWNED BY only_appends, only_reads");
  runSql(sharedServer(), "DROP ROLE only_appends, only_reads");
}

}  // namespace
}  // namespace bough
