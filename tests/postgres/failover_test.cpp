// A primary is killed while eight processes write, and its standby takes over: nothing acknowledged is lost, and
// nothing is there twice. To be meaningful, the same check must find the loss with a standby that lags behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "bough/store.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

constexpr int kWriters = 8;
constexpr int kSessions = 3;

std::string encoded(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '/' ? "%2F" : std::string(1, c);
  return text;
}

// Both servers in one URL: libpq chooses the one that accepts writes.
std::string urlOf(const PostgresServer& one, const PostgresServer& other) {
  return "postgresql://postgres@/postgres?host=" + encoded(one.socketFolder()) + "," + encoded(other.socketFolder()) +
         "&port=5432,5432&target_session_attrs=read-write&connect_timeout=5&schema=failover";
}

// Appends entries with its own ids until it is killed. Writes each acknowledged id to a file, in whole lines.
[[noreturn]] void writeForEver(const std::string& url, int writer, const std::string& file) {
  std::ofstream acknowledged(file, std::ios::app);
  auto store = SessionStore::open(url);
  if (!store) ::_exit(3);
  for (int number = 0;; ++number) {
    std::vector<Entry> batch(2);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].id = "w" + std::to_string(writer) + "-" + std::to_string(number) + (i == 0 ? "a" : "b");
      batch[i].type = "message";
      batch[i].payload = R"({"text":"hello"})";
    }
    const std::string session = "s" + std::to_string((writer + number) % kSessions);
    for (;;) {
      const auto done = (*store)->appendSessionEntries(session, batch);
      if (done) break;
      if (!done.error().retryable) {
        acknowledged << "! " << done.error().message << std::endl;
        ::_exit(4);
      }
    }
    acknowledged << session << ' ' << batch[0].id << ' ' << batch[1].id << std::endl;
  }
}

class Writers {
 public:
  Writers(const std::string& url, const TempFolder& folder) : folder_(folder) {
    for (int writer = 0; writer < kWriters; ++writer) {
      const pid_t child = ::fork();
      if (child == 0) writeForEver(url, writer, fileOf(writer));
      children_.push_back(child);
    }
  }
  ~Writers() { stop(); }

  void stop() {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
    children_.clear();
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> acknowledged() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (int writer = 0; writer < kWriters; ++writer) {
      std::ifstream file(fileOf(writer));
      for (std::string line; std::getline(file, line);) {
        EXPECT_FALSE(line.starts_with('!')) << line;
        std::istringstream words(line);
        std::string session;
        std::string first;
        std::string second;
        if (!(words >> session >> first >> second)) continue;
        all.emplace_back(session, first);
        all.emplace_back(session, second);
      }
    }
    return all;
  }

  void waitFor(std::size_t more) const {
    const std::size_t wanted = acknowledged().size() + more;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (acknowledged().size() < wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_GE(acknowledged().size(), wanted) << "nobody writes any more";
  }

 private:
  [[nodiscard]] std::string fileOf(int writer) const { return folder_ / ("writer" + std::to_string(writer)); }
  const TempFolder& folder_;
  std::vector<pid_t> children_;
};

struct Loss {
  std::size_t lost = 0;
  std::size_t twice = 0;
  std::uint64_t problems = 0;
};

Loss compare(const std::string& url, const Writers& writers) {
  Loss loss;
  auto store = SessionStore::open(url);
  if (!store) throw std::runtime_error(store.error().message);
  std::map<std::string, std::set<std::string>> stored;
  for (int i = 0; i < kSessions; ++i) {
    const std::string session = "s" + std::to_string(i);
    const auto entries = (*store)->loadSessionEntries(session);
    if (!entries) throw std::runtime_error(entries.error().message);
    for (const Entry& entry : *entries) loss.twice += stored[session].insert(entry.id).second ? 0U : 1U;
    const auto report = (*store)->verifySession(session);
    if (!report) throw std::runtime_error(report.error().message);
    loss.problems += report->problemCount;
  }
  for (const auto& [session, id] : writers.acknowledged()) loss.lost += stored[session].contains(id) ? 0U : 1U;
  return loss;
}

class PostgresFailover : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    primary_ = std::make_unique<PostgresServer>(std::vector<std::string>{"fsync = off"});
    const std::string url = primary_->url("failover");
    ASSERT_TRUE(initPostgresStore(url));
    auto store = SessionStore::open(url);
    ASSERT_TRUE(store);
    for (int i = 0; i < kSessions; ++i) ASSERT_TRUE((*store)->createSession({.sessionId = "s" + std::to_string(i)}));
    standby_ = std::make_unique<PostgresServer>(*primary_, "standby");
    waitForStreaming("");
  }

  void waitForStreaming(const std::string& state) const {
    const std::string wanted = state.empty() ? "" : " AND sync_state = '" + state + "'";
    for (int i = 0; i < 1000; ++i) {
      if (runSql(*primary_, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'" + wanted) == "1")
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "the standby does not stream";
  }

  std::unique_ptr<PostgresServer> primary_;
  std::unique_ptr<PostgresServer> standby_;
};

TEST_F(PostgresFailover, ASynchronousStandbyHasEverythingThatWasAcknowledged) {
  const char* const wanted = std::getenv("BOUGH_FAILOVERS");
  const int runs = wanted == nullptr ? 10 : std::atoi(wanted);
  for (int run = 0; run < runs; ++run) {
    runSql(*primary_, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    runSql(*primary_, "SELECT pg_reload_conf()");
    waitForStreaming("sync");
    const TempFolder folder;
    const std::string url = urlOf(*primary_, *standby_);
    Writers writers(url, folder);
    writers.waitFor(200);
    primary_->kill();
    // As a primary, the standby would wait for a standby of its own.
    runSql(*standby_, "SELECT 1");
    standby_->addSettings({"synchronous_standby_names = ''"});
    standby_->removeAutoSettings();
    standby_->promote();
    writers.waitFor(200);
    writers.stop();
    const Loss loss = compare(url, writers);
    EXPECT_EQ(loss.lost, 0U) << "run " << run;
    EXPECT_EQ(loss.twice, 0U) << "run " << run;
    EXPECT_EQ(loss.problems, 0U) << "run " << run;
    if (run + 1 == runs) break;
    primary_ = std::move(standby_);
    standby_ = std::make_unique<PostgresServer>(*primary_, "standby");
  }
}

TEST_F(PostgresFailover, TheCheckFindsTheLossOfAStandbyThatLagsBehind) {
  const TempFolder folder;
  const std::string url = urlOf(*primary_, *standby_);
  standby_->suspend();
  Writers writers(url, folder);
  writers.waitFor(300);
  primary_->kill();
  writers.stop();
  standby_->resume();
  standby_->promote();
  const Loss loss = compare(url, writers);
  EXPECT_GT(loss.lost, 0U);
}

// Servers that other programs start and promote: ha.py.
TEST(Patroni, PromotesAServerThatHasEverythingThatWasAcknowledged) {
  const char* const url = std::getenv("BOUGH_HA_URL");
  const char* const kill = std::getenv("BOUGH_HA_KILL");
  if (url == nullptr || kill == nullptr) GTEST_SKIP() << "`./test ha` runs this under Patroni";
  const auto made = initPostgresStore(url);
  ASSERT_TRUE(made) << made.error().message;
  auto store = SessionStore::open(url);
  ASSERT_TRUE(store) << store.error().message;
  for (int i = 0; i < kSessions; ++i) ASSERT_TRUE((*store)->createSession({.sessionId = "s" + std::to_string(i)}));
  const TempFolder folder;
  Writers writers(url, folder);
  writers.waitFor(200);
  ASSERT_EQ(std::system(kill), 0);
  writers.waitFor(200);
  writers.stop();
  const Loss loss = compare(url, writers);
  EXPECT_EQ(loss.lost, 0U);
  EXPECT_EQ(loss.twice, 0U);
  EXPECT_EQ(loss.problems, 0U);
}

}  // namespace
}  // namespace bough
