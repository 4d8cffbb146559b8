// Many threads on one store; also run with TSan.

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

constexpr int kThreads = 16;
constexpr int kEach = 12;

class Threads : public testing::TestWithParam<bool> {
 protected:
  Threads() { store = must(SessionStore::open(GetParam() ? folder.path().string() : "memory:")); }
  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

// Appends from all threads, while two readers and a follower run.
void appendFromAll(SessionStore& store, const std::function<std::string(int)>& sessionOf) {
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      std::size_t seen = 0;
      while (!done) {
        const auto entries = must(store.loadSessionEntries(sessionOf(r)));
        ASSERT_GE(entries.size(), seen);
        seen = entries.size();
        (void)must(store.sessionState(sessionOf(r + 2)));
        (void)must(store.loadEntry(sessionOf(r), entries.back().id));
      }
    });
  }
  auto follower = must(store.follow(sessionOf(0)));
  std::set<std::string> followed;
  std::thread following([&] {
    while (!done) {
      for (const Entry& entry : must(follower.next(-1))) EXPECT_TRUE(followed.insert(entry.id).second);
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = std::to_string(t) + "." + std::to_string(i);
        const auto result =
            must(store.appendSessionEntries(sessionOf(t), {message("a", id + ".1"), message("b", id + ".2")}));
        ASSERT_EQ(result.appendedCount, 2U);
        ASSERT_EQ(must(store.loadEntry(sessionOf(t), id + ".2")).parentId, id + ".1") << "what one wrote one reads";
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  follower.stop();
  for (std::thread& reader : readers) reader.join();
  following.join();
}

TEST_P(Threads, SixteenAppendToOneSession) {
  must(store->createSession({.sessionId = "s"}));
  appendFromAll(*store, [](int) { return std::string("s"); });
  const Ids ids = idsOf(*store, "s");
  ASSERT_EQ(ids.size(), kThreads * kEach * 2U);
  std::vector<int> next(kThreads, 0);
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    const std::size_t dot = ids[i].find('.');
    const auto thread = static_cast<std::size_t>(std::stoi(ids[i]));
    ASSERT_EQ(ids[i], std::to_string(thread) + "." + std::to_string(next[thread]++) + ".1") << "in its thread's order";
    ASSERT_EQ(ids[i + 1].substr(0, ids[i].size() - 2), ids[i].substr(0, ids[i].size() - 2)) << "batches stay together";
    ASSERT_NE(dot, std::string::npos);
  }
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_P(Threads, SixteenAppendToSixteenSessions) {
  for (int i = 0; i < kThreads; ++i) must(store->createSession({.sessionId = "s" + std::to_string(i)}));
  appendFromAll(*store, [](int t) { return "s" + std::to_string(t); });
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(idsOf(*store, "s" + std::to_string(i)).size(), kEach * 2U);
}

TEST_P(Threads, BufferedAppendsFlushAndReadAtTheSameTime) {
  store = must(
      SessionStore::open(GetParam() ? folder.path().string() : "memory:", {.bufferedEntries = 7, .bufferedMs = 2}));
  must(store->createSession({.sessionId = "s"}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        const std::string id = std::to_string(t) + "." + std::to_string(i);
        must(store->appendSessionEntries("s", {message("x", id)}, {.durability = Durability::Buffered}));
        if (i % 10 == 0) must(store->flush());
        if (i % 7 == 0) {
          EXPECT_EQ(must(store->loadEntry("s", id)).id, id);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(idsOf(*store, "s").size(), 180U);
}

// A repair treats what follows the last complete batch as torn, but not while a batch is being written there.
TEST_P(Threads, ARepairTakesNothingFromThoseWhoAppend) {
  constexpr int kWriters = 4;
  constexpr int kBatches = 40;
  must(store->createSession({.sessionId = "s"}));
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> torn = 0;
  std::thread repairing([&] {
    while (!done) {
      torn += must(store->repairSession("s")).tornBytes;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kWriters; ++t) {
    writers.emplace_back([&, t] {
      const std::string text(100'000, 'x');
      for (int i = 0; i < kBatches; ++i) {
        const std::string id = std::to_string(t) + "." + std::to_string(i);
        must(store->appendSessionEntries("s", {message(text, id + ".1"), message(text, id + ".2")}));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  repairing.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(idsOf(*store, "s").size(), 2U * kWriters * kBatches);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_P(Threads, ForksAreMadeWhileTheParentGrows) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "root")}));
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) must(store->appendSessionEntries("s", {message("x")}));
  });
  std::thread forker([&] {
    for (int i = 0; i < 20; ++i) {
      const std::string id = "f" + std::to_string(i);
      must(store->branchFromEntry("s", "root", {.sessionId = id}));
      must(store->appendSessionEntries(id, {message("y")}));
      EXPECT_EQ(idsOf(*store, id).size(), 2U);
    }
  });
  writer.join();
  forker.join();
  EXPECT_EQ(must(store->forksOf("s")).size(), 20U);
}

TEST_P(Threads, ASessionIsRemovedWhileItsForksAre) {
  std::atomic<bool> done = false;
  must(store->createSession({.sessionId = "s0"}));
  must(store->appendSessionEntries("s0", {message("x", "root")}));
  std::atomic<int> newest = 0;
  std::vector<std::thread> forkers;
  for (int t = 0; t < 3; ++t) {
    forkers.emplace_back([&, t] {
      for (int i = 0; !done; ++i) {
        const std::string id = "f" + std::to_string(t) + "." + std::to_string(i);
        // The session may already be gone.
        if (!store->branchFromEntry("s" + std::to_string(newest), "root", {.sessionId = id})) continue;
        must(store->deleteSession(id));
      }
    });
  }
  for (int i = 1; i <= 40; ++i) {
    const std::string next = "s" + std::to_string(i);
    must(store->createSession({.sessionId = next}));
    must(store->appendSessionEntries(next, {message("x", "root")}));
    const std::string last = "s" + std::to_string(newest.exchange(i));
    for (;;) {  // a new fork may appear while the existing ones are detached
      const auto removed = store->deleteSession(last, {.detachForks = true});
      if (removed) break;
      EXPECT_EQ(removed.error().code, ErrorCode::HasForks) << removed.error().message;
      if (removed.error().code != ErrorCode::HasForks) break;
    }
  }
  done = true;
  for (std::thread& forker : forkers) forker.join();
}

INSTANTIATE_TEST_SUITE_P(Backends, Threads, testing::Bool(),
                         [](const auto& test) { return test.param ? "files" : "memory"; });

}  // namespace
}  // namespace bough
