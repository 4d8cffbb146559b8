// Processes that append, fork, archive, trash, label and redact at the same time, killed at any moment.
// BOUGH_STORM_KILLS sets the number of kills.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "processes/helper.h"
#include "processes/roles.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

int wantedKills() {
  const char* wanted = std::getenv("BOUGH_STORM_KILLS");
  return wanted == nullptr ? 60 : std::atoi(wanted);
}

// Acknowledged operations, by session.
struct Done {
  std::map<std::string, std::set<std::string>> appended;
  std::map<std::string, std::set<std::string>> labels;
  std::map<std::string, std::set<std::string>> redacted;
  std::map<std::string, std::string> forks;  // where they begin
  std::size_t count = 0;

  void take(const std::string& line) {
    std::istringstream words(line);
    std::string did;
    std::string what;
    std::string session;
    std::string id;
    words >> did >> what >> session >> id;
    if (did != "did") {
      ADD_FAILURE() << line;
      return;
    }
    ++count;
    if (what == "append") appended[session].insert(id);
    if (what == "label") labels[session].insert(id);
    if (what == "redact") redacted[session].insert(id);
    if (what == "fork") forks[session] = id;
  }
};

void checkSession(SessionStore& store, const std::string& session, const Done& done) {
  const auto entries = must(store.loadSessionEntries(session));
  std::set<std::string> ids;
  std::set<std::string> hidden;
  for (const Entry& entry : entries) {
    EXPECT_TRUE(ids.insert(entry.id).second) << session << " holds twice: " << entry.id;
    if (entry.redacted) hidden.insert(entry.id);
  }
  const auto of = [&](const auto& all) {
    const auto found = all.find(session);
    return found == all.end() ? std::set<std::string>() : found->second;
  };
  for (const std::string& last : of(done.appended)) {
    const std::size_t dash = last.rfind('-');
    for (std::size_t i = 1; i <= std::stoul(last.substr(dash + 1)); ++i) {
      EXPECT_TRUE(ids.contains(last.substr(0, dash + 1) + std::to_string(i))) << session << " lost a part of " << last;
    }
  }
  for (const std::string& id : of(done.redacted)) EXPECT_TRUE(hidden.contains(id)) << session << " shows " << id;
  std::set<std::string> names;
  for (const SessionLabel& label : must(store.labels(session))) names.insert(label.name);
  for (const std::string& name : of(done.labels)) EXPECT_TRUE(names.contains(name)) << session << " lost " << name;
  const auto report = must(store.verifySession(session));
  EXPECT_EQ(report.problemCount, 0U) << session << ": " << (report.problems.empty() ? "" : report.problems[0].message);
}

TEST(Processes, NothingAcknowledgedIsLostInAStorm) {
  constexpr std::size_t kChildren = 6;
  const int wanted = wantedKills();
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  for (unsigned i = 0; i < kStormSessions; ++i) must(store->createSession({.sessionId = "s" + std::to_string(i)}));
  std::mt19937 random(2026);
  Done done;
  int born = 0;
  const auto start = [&] {
    return std::make_unique<Child>("storm", folder.path().string(), "-", "c" + std::to_string(born++),
                                   static_cast<unsigned>(random()));
  };
  std::vector<std::unique_ptr<Child>> children;
  for (std::size_t i = 0; i < kChildren; ++i) children.push_back(start());
  const auto gather = [&](Child& child) {
    for (const std::string& line : child.reports()) done.take(line);
  };
  int kills = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60 + wanted);
  for (std::size_t target = 1; kills < wanted && std::chrono::steady_clock::now() < deadline;) {
    waitForAny(children, 100);
    for (auto& child : children) gather(*child);
    if (done.count < target) continue;  // kill only processes that work
    target = done.count + 1 + random() % 6;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    auto& victim = children[random() % kChildren];
    victim->kill();
    gather(*victim);
    victim = start();
    ++kills;
  }
  for (auto& child : children) {
    child->kill();
    gather(*child);
  }
  EXPECT_EQ(kills, wanted);
  // A process that was killed between trash and restore left its session in the trash.
  for (const TrashedSession& trashed : must(store->maintenance().listTrash())) {
    if (!store->sessionState(trashed.sessionId)) must(store->maintenance().restore(trashed.trashId));
  }
  auto fresh = must(SessionStore::open(folder.path().string()));
  for (unsigned i = 0; i < kStormSessions; ++i) checkSession(*fresh, "s" + std::to_string(i), done);
  for (const auto& [fork, begin] : done.forks) {
    checkSession(*fresh, fork, done);
    EXPECT_EQ(must(fresh->loadSessionEntries(fork)).back().id, begin) << fork;
  }
  RecordProperty("acknowledged", static_cast<int>(done.count));
}

}  // namespace
}  // namespace bough
