// What goes wrong around a store on PostgreSQL: restarts, a full disk, a network that is cut, wrong passwords and
// rights.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "bough/store.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

Entry message(const std::string& id, const std::string& text = "hello") {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

class PostgresTrouble : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  static std::unique_ptr<SessionStore> open(const std::string& url) {
    StoreOptions options;
    options.lockTimeoutMs = 60'000;
    auto store = SessionStore::open(url, options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // Of opening the store, or else of the first question.
  static Error errorOf(const std::string& url) {
    auto store = SessionStore::open(url);
    if (!store) return store.error();
    const auto ids = (*store)->listSessions();
    if (!ids) return ids.error();
    return fail(ErrorCode::Unsupported, "it opened").error();
  }
  static std::vector<std::string> idsOf(SessionStore& store, const std::string& session) {
    std::vector<std::string> ids;
    const auto entries = store.loadSessionEntries(session);
    if (!entries) throw std::runtime_error(entries.error().message);
    for (const Entry& entry : *entries) ids.push_back(entry.id);
    ids.erase(ids.begin());  // the header
    return ids;
  }
};

// Ids of batches of ten, in their order.
std::vector<Entry> batchOf(int number) {
  std::vector<Entry> batch;
  for (int i = 0; i < 10; ++i) batch.push_back(message(std::to_string(number) + "-" + std::to_string(i)));
  return batch;
}

TEST_F(PostgresTrouble, ARestartInTheMiddleOfABatchLosesAndDoublesNothing) {
  PostgresServer server({"fsync = off"});
  ASSERT_TRUE(initPostgresStore(server.url("trouble")));
  ASSERT_TRUE(open(server.url("trouble"))->createSession({.sessionId = "s"}));
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::thread writer([&] {
    auto store = open(server.url("trouble"));
    while (!stop) {
      const auto appended = store->appendSessionEntries("s", batchOf(done));
      ASSERT_TRUE(appended) << appended.error().message;
      ++done;
    }
  });
  for (int i = 0; i < 4; ++i) {
    for (const int until = done + 20; done < until;) std::this_thread::yield();
    i % 2 == 0 ? server.stop() : server.kill();
    server.start();
  }
  for (const int until = done + 20; done < until;) std::this_thread::yield();
  stop = true;
  writer.join();
  auto store = open(server.url("trouble"));
  std::vector<std::string> expected;
  for (int i = 0; i < done; ++i) {
    for (const Entry& entry : batchOf(i)) expected.push_back(entry.id);
  }
  EXPECT_EQ(idsOf(*store, "s"), expected);
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
}

TEST_F(PostgresTrouble, AfterAForkTheChildIsRefusedAndTheParentGoesOn) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  auto store = open(url);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->appendSessionEntries("s", {message("before")}));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto refused = store->appendSessionEntries("s", {message("child")});
    if (refused || refused.error().code != ErrorCode::Unsupported) ::_exit(1);
    auto own = SessionStore::open(url);
    ::_exit(own && (*own)->appendSessionEntries("s", {message("own")}) ? 0 : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(store->appendSessionEntries("s", {message("after")}));
  EXPECT_EQ(idsOf(*store, "s"), (std::vector<std::string>{"before", "own", "after"}));
}

TEST_F(PostgresTrouble, ASchemaThatIsMissingOrNewerIsTold) {
  const std::string url = freshStoreUrl();
  const Error missing = errorOf(url);
  EXPECT_EQ(missing.code, ErrorCode::NotFound) << missing.message;
  EXPECT_TRUE(missing.hint.contains("bough store init")) << missing.hint;
  ASSERT_TRUE(initPostgresStore(url));
  const std::string schema = url.substr(url.find("schema=") + 7);
  const auto setVersion = [&](const std::string& version) {
    runSql(sharedServer(),
           "UPDATE " + schema + ".settings SET value = '" + version + "' WHERE name = 'schema_version'");
  };
  setVersion("99");
  const Error newer = errorOf(url);
  EXPECT_EQ(newer.code, ErrorCode::NewerFormat) << newer.message;
  EXPECT_TRUE(newer.hint.contains("upgrade")) << newer.hint;
}

}  // namespace
}  // namespace bough
