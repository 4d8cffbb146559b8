// Two machines, simulated by network namespaces, and a cable that is unplugged while both write.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "bough/store.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

std::unique_ptr<SessionStore> openStore(const std::string& url) {
  StoreOptions options;
  options.lockTimeoutMs = 60'000;
  return must(SessionStore::open(url, options));
}

// Returns the ids without that of the header.
std::vector<std::string> storedIds(SessionStore& store) {
  std::vector<std::string> ids = idsOf(must(store.loadSessionEntries("s")));
  ids.erase(ids.begin());
  return ids;
}

// Two machines: network namespaces, each connected to the server.
class Machines {
 public:
  static constexpr int kCount = 2;
  Machines() {
    made_ = ::geteuid() == 0;
    for (int i = 0; i < kCount && made_; ++i) {
      made_ = shell("ip netns add " + name(i)) &&
              shell("ip link add " + cable(i) + " type veth peer name eth netns " + name(i)) &&
              shell("ip addr add " + serverAddress(i) + "/30 dev " + cable(i)) &&
              shell("ip link set " + cable(i) + " up") &&
              shell("ip -n " + name(i) + " addr add " + network(i) + ".2/30 dev eth") &&
              shell("ip -n " + name(i) + " link set eth up");
    }
  }
  ~Machines() {
    for (int i = 0; i < kCount; ++i) {
      (void)shell("ip link del " + cable(i));
      (void)shell("ip netns del " + name(i));
    }
  }
  [[nodiscard]] bool isMade() const { return made_; }
  [[nodiscard]] std::string serverAddress(int machine) const { return network(machine) + ".1"; }
  void connect(int machine, bool on) const {
    EXPECT_TRUE(shell("ip link set " + cable(machine) + (on ? " up" : " down")));
  }
  /// Called in a child process, which continues inside of a machine.
  void enter(int machine) const {
    const int space = ::open(("/var/run/netns/" + name(machine)).c_str(), O_RDONLY | O_CLOEXEC);
    if (space < 0 || ::setns(space, CLONE_NEWNET) != 0) ::_exit(1);
  }

 private:
  static bool shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
  [[nodiscard]] std::string name(int i) const { return "bough" + std::to_string(pid_) + "-" + std::to_string(i); }
  [[nodiscard]] std::string cable(int i) const {
    return "bg" + std::to_string(pid_ % 100000) + "-" + std::to_string(i);
  }
  [[nodiscard]] std::string network(int i) const { return "10.231." + std::to_string((pid_ * 2 + i) % 250 + 1); }
  const pid_t pid_ = ::getpid();  // children use the names, too
  bool made_ = false;
};

TEST(PostgresMachines, TwoMachinesGoOnAfterAPartition) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const Machines machines;
  if (!machines.isMade()) GTEST_SKIP() << "namespaces of the network cannot be made here";
  PostgresServer server(
      {"fsync = off", "listen_addresses = '" + machines.serverAddress(0) + "," + machines.serverAddress(1) + "'"});
  std::ofstream(server.dataFolder() + "/pg_hba.conf", std::ios::app) << "host all all 10.231.0.0/16 trust\n";
  server.stop();
  server.start();
  ASSERT_TRUE(initPostgresStore(server.url("trouble")));
  auto store = openStore(server.url("trouble"));
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  const TempFolder folder;
  const auto fileOf = [&](int machine) { return folder / std::to_string(machine); };
  const auto acknowledged = [&](int machine) {
    std::vector<std::string> ids;
    std::ifstream file(fileOf(machine));
    for (std::string line; std::getline(file, line);) {
      EXPECT_FALSE(line.starts_with('!')) << line;
      ids.push_back(line);
    }
    return ids;
  };
  std::vector<pid_t> children;
  for (int machine = 0; machine < Machines::kCount; ++machine) {
    const pid_t child = ::fork();
    if (child == 0) {
      machines.enter(machine);
      auto mine = SessionStore::open("postgresql://postgres@" + machines.serverAddress(machine) +
                                     ":5432/postgres?schema=trouble&tcp_user_timeout=2000");
      std::ofstream file(fileOf(machine));
      if (!mine) {
        file << "! " << mine.error().message << std::endl;
        ::_exit(2);
      }
      for (int i = 0;; ++i) {
        const std::string id = std::to_string(machine) + "-" + std::to_string(i);
        auto appended = (*mine)->appendSessionEntries("s", {message("hello", id)});
        while (!appended && appended.error().retryable)
          appended = (*mine)->appendSessionEntries("s", {message("hello", id)});
        file << (appended ? id : "! " + appended.error().message) << std::endl;
        if (!appended) ::_exit(3);
      }
    }
    children.push_back(child);
  }
  const auto waitForMore = [&](int machine) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const std::size_t wanted = acknowledged(machine).size() + 20;
    while (acknowledged(machine).size() < wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GE(acknowledged(machine).size(), wanted) << "machine " << machine << " does not write";
  };
  for (int machine = 0; machine < Machines::kCount; ++machine) waitForMore(machine);
  machines.connect(0, false);
  waitForMore(1);
  machines.connect(0, true);
  for (int machine = 0; machine < Machines::kCount; ++machine) waitForMore(machine);
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  const auto stored = storedIds(*store);
  const std::set<std::string> different(stored.begin(), stored.end());
  EXPECT_EQ(different.size(), stored.size());
  for (int machine = 0; machine < Machines::kCount; ++machine) {
    for (const std::string& id : acknowledged(machine)) EXPECT_TRUE(different.contains(id)) << id;
  }
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
}

}  // namespace
}  // namespace bough
