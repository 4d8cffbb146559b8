// A store behind PgBouncer, which assigns one of a few server connections to each transaction (or each client).

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bough/catalog.h"
#include "bough/store.h"
#include "store/postgres/schema/database.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

constexpr const char* kProgram = "/usr/sbin/pgbouncer";

class Pooler {
 public:
  // `connections` is the number of server connections that its clients share.
  Pooler(const PostgresServer& server, const std::string& mode, int connections)
      : server_(server), folder_(server.socketFolder()) {
    std::ofstream(folder_ + "/pooler.users") << "\"postgres\" \"\"\n";
    std::ofstream(folder_ + "/pooler.ini")
        << "[databases]\n* = host=" << folder_ << " port=" << PostgresServer::kPort << "\n[pgbouncer]\n"
        << "listen_port = " << kPort << "\nunix_socket_dir = " << folder_
        << "\nauth_type = trust\nauth_file = " << folder_ << "/pooler.users\npool_mode = " << mode
        << "\ndefault_pool_size = " << connections << "\n";
    process_ = server.spawn({kProgram, folder_ + "/pooler.ini"}, folder_ + "/pooler.log");
    while (!std::filesystem::exists(socket())) {
      if (::waitpid(process_, nullptr, WNOHANG) != 0) throw std::runtime_error("pgbouncer does not start");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Pooler() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  [[nodiscard]] std::string url(const std::string& schema) const {
    std::string url = server_.url(schema);
    const std::string port = ":" + std::to_string(PostgresServer::kPort) + "/";
    return url.replace(url.find(port), port.size(), ":" + std::to_string(kPort) + "/");
  }

 private:
  static constexpr int kPort = 6432;
  [[nodiscard]] std::string socket() const { return folder_ + "/.s.PGSQL." + std::to_string(kPort); }

  const PostgresServer& server_;
  const std::string folder_;
  pid_t process_ = 0;
};

class PostgresPooler : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    if (!std::filesystem::exists(kProgram)) GTEST_SKIP() << "PgBouncer is not installed";
    server_ = std::make_unique<PostgresServer>(std::vector<std::string>{"fsync = off"});
    for (const char* const schema : {"one", "two"}) must(initPostgresStore(server_->url(schema)));
  }

  std::unique_ptr<PostgresServer> server_;
};

TEST_P(PostgresPooler, WritersShareConnectionsAndNothingIsMixed) {
  const Pooler pooler(*server_, GetParam(), GetParam() == std::string("session") ? 50 : 3);
  constexpr int kEach = 20;
  for (const char* const schema : {"one", "two"}) {
    auto store = must(SessionStore::open(pooler.url(schema)));
    for (int i = 0; i < 3; ++i) must(store->createSession({.sessionId = "s" + std::to_string(i)}));
  }
  std::vector<std::thread> writers;
  for (const std::string schema : {"one", "two"}) {
    for (int i = 0; i < 3; ++i) {
      writers.emplace_back([&, schema, i] {
        auto store = must(SessionStore::open(pooler.url(schema)));
        for (int turn = 0; turn < kEach; ++turn) {
          const std::string id = schema + std::to_string(turn);
          must(store->appendSessionEntries("s" + std::to_string(i), {message("a", id + "a"), message("b", id + "b")}));
        }
      });
    }
  }
  for (std::thread& writer : writers) writer.join();
  for (const std::string schema : {"one", "two"}) {
    auto store = must(SessionStore::open(server_->url(schema)));
    Ids expected;
    for (int turn = 0; turn < kEach; ++turn) {
      for (const char* const part : {"a", "b"}) expected.push_back(schema + std::to_string(turn) + part);
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(idsOf(*store, "s" + std::to_string(i)), expected);
      EXPECT_EQ(must(store->verifySession("s" + std::to_string(i))).problemCount, 0U);
    }
  }
}

TEST_P(PostgresPooler, AStoreDoesWhatItDoesWithoutOne) {
  const Pooler pooler(*server_, GetParam(), GetParam() == std::string("session") ? 50 : 3);
  auto store = must(SessionStore::open(pooler.url("one")));
  auto reader = must(SessionStore::open(pooler.url("one")));
  must(store->createSession({.sessionId = "s"}));
  auto follower = must(reader->follow("s"));
  EXPECT_EQ(must(follower.next(5000)).size(), 1U);  // the header
  const auto said = [](const std::string& words, const std::string& id) {
    return entryOf(entry_type::kMessage, R"({"role":"user","content":")" + words + R"("})", id);
  };
  must(store->appendSessionEntries("s", {said("first words", "a"), said(std::string(600'000, 'x'), "b")}));
  EXPECT_EQ(must(follower.next(20'000)).size(), 2U);
  must(store->branchFromEntry("s", "a", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {said("other words", "c")},
                                   {.turn = must(must(store->session("f")).leaseTurn(1000))}));
  EXPECT_EQ(idsOf(*reader, "f", {.branch = ""}), (Ids{"a", "c"}));
  auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("words")).size(), 2U);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  const auto trashed = must(store->trashSession("f"));
  must(store->restoreSession(trashed.trashId));
  EXPECT_EQ(idsOf(*reader, "s"), (Ids{"a", "b"}));
}

TEST_P(PostgresPooler, AnOptionThatItDoesNotTakeIsTold) {
  const Pooler pooler(*server_, GetParam(), 3);
  const Error error = refused(SessionStore::open(pooler.url("one") + "&options=-c%20geqo%3Doff"));
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << error.message;
  EXPECT_FALSE(error.retryable);
  EXPECT_TRUE(error.hint.contains("ignore_startup_parameters")) << error.hint;
}

// A statement that one client prepared on a connection has the name that another client of that connection would use.
TEST_P(PostgresPooler, AStatementOfAnotherStoreIsNeverRun) {
  const Pooler pooler(*server_, GetParam(), GetParam() == std::string("session") ? 50 : 1);
  const auto open = [&](const std::string& schema) {
    runSql(*server_, "INSERT INTO " + schema + ".settings VALUES ('test.name', '" + schema + "')");
    return std::make_unique<postgres::Database>(must(postgres::parseLocation(pooler.url(schema))),
                                                postgres::PoolOptions{}, jsonEntrySerializer(), systemEnvironment());
  };
  constexpr postgres::Statement kName{"test_name", "SELECT value FROM @.settings WHERE name = 'test.name'"};
  const auto ask = [&](postgres::Database& database) { return must(database.run(kName, {})).string(0, 0); };
  const auto one = open("one");
  const auto two = open("two");
  EXPECT_EQ(ask(*one), "one");
  // The next connection has no prepared statements; the first client prepares one.
  runSql(*server_, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bough'");
  EXPECT_EQ(ask(*two), "two");
  EXPECT_EQ(ask(*one), "one");
}

INSTANTIATE_TEST_SUITE_P(Modes, PostgresPooler, testing::Values("transaction", "session"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace bough
