// Memory that runs out while a PostgreSQL store is used: the other appends of the same round trip get their answers,
// connections recover, and the threads that send and receive notifications continue.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "bough/store.h"
#include "memory/failing_memory.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

class PostgresMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    const std::string url = freshStoreUrl();
    must(initPostgresStore(url));
    StoreOptions options;
    options.lockTimeoutMs = 20'000;
    store_ = must(SessionStore::open(url, options));
  }

  std::size_t count(const std::string& session) { return must(store_->loadSessionEntries(session)).size(); }

  std::unique_ptr<SessionStore> store_;
};

TEST_F(PostgresMemory, AnAppendIsThereWholeOrNotAtAll) {
  for (long place = 0;; ++place) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    ::alarm(120);
    const std::string session = "s" + std::to_string(place);
    must(store_->createSession({.sessionId = session}));
    std::vector<Entry> batch{message("x", "a"), message("x", "b")};
    allocationsLeft = place;
    try {
      (void)store_->appendSessionEntries(session, batch);
    } catch (const std::bad_alloc&) {
    }
    const bool failed = allocationsLeft < 0;
    allocationsLeft = -1;
    const std::size_t found = count(session);
    EXPECT_TRUE(found == 1 || found == 3) << found;
    must(store_->appendSessionEntries(session, batch));
    EXPECT_EQ(count(session), 3U);
    ::alarm(0);
    if (!failed || HasFailure()) break;
  }
}

TEST_F(PostgresMemory, ThreadsThatAppendTogetherAllGetAnAnswer) {
  constexpr int kThreads = 4;
  for (int i = 0; i < kThreads; ++i) must(store_->createSession({.sessionId = "s" + std::to_string(i)}));
  auto follower = must(store_->follow("s0"));
  for (long place = 0; place < 400; place += 1 + place / 30) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    ::alarm(120);
    const std::string id = std::to_string(place);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, session = "s" + std::to_string(i)] {
          try {
            (void)store_->appendSessionEntries(session, {message("x", id)});
          } catch (const std::bad_alloc&) {
          }
        });
      }
      allocationsLeftOfAll = place;
    }
    allocationsLeftOfAll = -1;
    for (int i = 0; i < kThreads; ++i) {
      must(store_->appendSessionEntries("s" + std::to_string(i), {message("x", id)}));  // known, or stored now
    }
    ::alarm(0);
    if (HasFailure()) return;
  }
  const std::size_t expected = count("s0");
  for (int i = 1; i < kThreads; ++i) EXPECT_EQ(count("s" + std::to_string(i)), expected);
  std::map<std::string, int> seen;
  ::alarm(120);
  while (seen.size() < expected) {
    for (const Entry& entry : must(follower.next(5000))) ++seen[entry.id];
  }
  for (const auto& [id, times] : seen) EXPECT_EQ(times, 1) << id;
  ::alarm(0);
}

}  // namespace
}  // namespace bough
