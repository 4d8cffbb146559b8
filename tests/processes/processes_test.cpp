// Several processes on one session, killed at any moment.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "processes/helper.h"
#include "processes/roles.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

using Clock = std::chrono::steady_clock;

// Compares the contents of the session with what was acknowledged.
class Ledger {
 public:
  void take(const std::string& line) {
    if (line.starts_with("ack ")) {
      const std::size_t blank = line.find(' ', 4);
      acknowledged_[line.substr(4, blank - 4)] = std::stoul(line.substr(blank + 1));
    } else if (line.starts_with("bad")) {
      ADD_FAILURE() << line;
    }
  }
  [[nodiscard]] std::size_t size() const { return acknowledged_.size(); }

  void check(SessionStore& store, const std::string& session) const {
    const auto entries = must(store.loadSessionEntries(session));
    std::set<std::string> ids;
    std::map<std::string, std::size_t> batches;
    std::map<std::string, std::size_t> promised;
    std::string open;
    for (const Entry& entry : entries) {
      ASSERT_TRUE(ids.insert(entry.id).second) << "twice: " << entry.id;
      const std::size_t of = entry.id.find("-of-");
      if (of == std::string::npos) continue;
      const std::size_t place = entry.id.rfind('-', of - 1);
      const std::string batch = entry.id.substr(0, place);
      if (batches.contains(batch)) {
        ASSERT_EQ(batch, open) << "a batch stands together";
      }
      open = batch;
      ASSERT_EQ(entry.id.substr(place + 1, of - place - 1), std::to_string(++batches[batch]));
      promised[batch] = std::stoul(entry.id.substr(of + 4));
    }
    for (const auto& [batch, count] : batches) ASSERT_EQ(count, promised[batch]) << "half a batch: " << batch;
    for (const auto& [batch, count] : acknowledged_) {
      const auto found = batches.find(batch);
      ASSERT_TRUE(found != batches.end()) << "lost: " << batch;
      ASSERT_EQ(found->second, count);
    }
    EXPECT_EQ(must(store.verifySession(session)).problemCount, 0U);
  }

 private:
  std::map<std::string, std::size_t> acknowledged_;
};

TEST(Processes, NothingAcknowledgedIsLostWhenWritersAreKilled) {
  constexpr std::size_t kWriters = 8;
  constexpr std::size_t kReaders = 2;
  constexpr int kKills = 200;
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  std::mt19937 random(2026);
  Ledger ledger;
  std::vector<std::unique_ptr<Child>> children;
  int born = 0;
  const auto start = [&](std::size_t place) {
    const std::string role = place < kWriters ? "write" : "read";
    const std::string name = "w" + std::to_string(born++);
    return std::make_unique<Child>(role, folder.path().string(), "s", name, static_cast<unsigned>(random()));
  };
  for (std::size_t i = 0; i < kWriters + kReaders; ++i) children.push_back(start(i));
  std::size_t reads = 0;
  const auto gather = [&](Child& child) {
    for (const std::string& line : child.reports()) {
      ledger.take(line);
      reads += line.starts_with("read") ? 1U : 0U;
    }
  };
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  int kills = 0;
  for (std::size_t target = 1; kills < kKills && Clock::now() < deadline;) {
    waitForAny(children, 100);
    for (auto& child : children) gather(*child);
    // Kill only after new acknowledgements, so that the kills hit working writers.
    if (ledger.size() < target) continue;
    target = ledger.size() + 1 + random() % 4;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));  // not right at a report
    const std::size_t victim = random() % 10 == 0 ? kWriters + random() % kReaders : random() % kWriters;
    children[victim]->kill();
    gather(*children[victim]);
    children[victim] = start(victim);
    ++kills;
  }
  for (auto& child : children) {
    child->kill();
    gather(*child);
  }
  EXPECT_EQ(kills, kKills);
  EXPECT_GT(reads, 0U);
  must(store->appendSessionEntries("s", {message("last", "last")}));
  ledger.check(*store, "s");
  ledger.check(*must(SessionStore::open(folder.path().string())), "s");
  RecordProperty("batches", static_cast<int>(ledger.size()));
}

// Processes that append without pause let others in: nobody gets the error that the session is busy.
TEST(Processes, WhoAppendsWithoutAPauseLeavesTurnsToOthers) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string(), {.lockTimeoutMs = 20'000}));
  must(store->createSession({.sessionId = "s"}));
  std::vector<std::unique_ptr<Child>> hogs;
  for (unsigned i = 0; i < 3; ++i) {
    hogs.push_back(std::make_unique<Child>("write", folder.path().string(), "s", "h" + std::to_string(i), i));
  }
  Ledger ledger;
  const auto takeAll = [&] {
    for (auto& hog : hogs) {
      for (const std::string& line : hog->reports()) ledger.take(line);
    }
  };
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (ledger.size() < 20 && Clock::now() < deadline) {
    waitForAny(hogs, 100);
    takeAll();
  }
  const std::size_t before = ledger.size();
  for (int i = 0; i < 50; ++i) {
    const auto result = store->appendSessionEntries("s", {message("x", "guest-" + std::to_string(i))});
    ASSERT_TRUE(result) << result.error().message;
    takeAll();
  }
  EXPECT_GT(ledger.size(), before) << "the others were at it all the time";
  for (auto& hog : hogs) hog->kill();
  takeAll();
  ledger.check(*store, "s");
}

TEST(Processes, EveryAcceptedAppendWonItsTail) {
  constexpr int kRacers = 6;
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  std::vector<std::unique_ptr<Child>> racers;
  for (int i = 0; i < kRacers; ++i) {
    racers.push_back(std::make_unique<Child>("race", folder.path().string(), "s", "r" + std::to_string(i), 1));
  }
  std::map<std::string, std::string> winnerBehind;
  int done = 0;
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (done < kRacers && Clock::now() < deadline) {
    waitForAny(racers, 100);
    for (auto& racer : racers) {
      for (const std::string& line : racer->reports()) {
        ASSERT_FALSE(line.starts_with("bad")) << line;
        done += line == "done" ? 1 : 0;
        if (!line.starts_with("won ")) continue;
        const std::size_t blank = line.find(' ', 4);
        ASSERT_TRUE(winnerBehind.emplace(line.substr(4, blank - 4), line.substr(blank + 1)).second)
            << "two won the same tail";
      }
    }
  }
  ASSERT_EQ(done, kRacers);
  const auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 1U + kRacers * 25U);
  ASSERT_EQ(winnerBehind.size(), kRacers * 25U);
  for (std::size_t i = 1; i < entries.size(); ++i) ASSERT_EQ(winnerBehind[entries[i - 1].id], entries[i].id);
}

TEST(Processes, ArchivingAndBringingBackLosesNothing) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  Ledger ledger;
  std::vector<std::unique_ptr<Child>> children;
  for (const std::string role : {"write", "write", "write", "read", "archive", "archive"}) {
    const auto number = static_cast<unsigned>(children.size());
    children.push_back(
        std::make_unique<Child>(role, folder.path().string(), "s", "c" + std::to_string(number), number));
  }
  std::size_t archived = 0;
  const auto deadline = Clock::now() + std::chrono::minutes(5);
  while ((ledger.size() < 150 || archived < 100) && Clock::now() < deadline && !testing::Test::HasFailure()) {
    waitForAny(children, 100);
    for (auto& child : children) {
      for (const std::string& line : child->reports()) {
        ledger.take(line);
        archived += line == "archived" ? 1U : 0U;
      }
    }
  }
  for (auto& child : children) {
    child->kill();
    for (const std::string& line : child->reports()) ledger.take(line);
  }
  EXPECT_GE(ledger.size(), 150U);
  EXPECT_GE(archived, 100U);
  ledger.check(*store, "s");
  must(store->appendSessionEntries("s", {message("x", "last")}));
  ledger.check(*must(SessionStore::open(folder.path().string())), "s");
}

TEST(Processes, AFollowerWakesWhenAnotherProcessAppends) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "a")}));
  std::string position;
  {
    auto follower = must(store->follow("s"));
    EXPECT_EQ(must(follower.next(5000)).size(), 2U);
    EXPECT_TRUE(must(follower.next(0)).empty());
    Child child("append", folder.path().string(), "s", "b", 1);
    const auto entries = must(follower.next(20'000));
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].id, "b");
    position = follower.position();
    EXPECT_EQ(child.wait(), 0);
  }
  Child child("append", folder.path().string(), "s", "c", 1);
  EXPECT_EQ(child.wait(), 0);
  auto later = must(SessionStore::open(folder.path().string()));
  auto follower = must(later->follow("s", position));
  EXPECT_EQ(idsOf(must(follower.next(5000))), (Ids{"c"}));
  std::thread stopper([&] { follower.stop(); });
  EXPECT_TRUE(must(follower.next(-1)).empty());
  stopper.join();
  EXPECT_TRUE(must(follower.next(-1)).empty());
}

}  // namespace
}  // namespace bough

int main(int argc, char** argv) {
  if (argc == 7 && std::string(argv[1]) == "--role") return bough::runRole({argv + 2, argv + argc});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
