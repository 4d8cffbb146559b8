// Memory that runs out while sessions are copied, synced, imported and followed: existing sessions are intact, and the
// next call does the rest.
#include <bough/transcript.h>
#include <gtest/gtest.h>

#include <set>

#include "memory/failing_memory.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// Runs `work` without failing allocations.
template <typename Work>
auto whileMemorySuffices(Work work) {
  const long left = allocationsLeftOfAll.exchange(-1);
  auto result = work();
  allocationsLeftOfAll = left;
  return result;
}

std::vector<std::string> idsIn(SessionStore& store, const std::string& sessionId) {
  std::vector<std::string> ids;
  for (const Entry& entry : must(store.loadSessionEntries(sessionId))) ids.push_back(entry.id);
  return ids;
}

// Two stores; the left one has a session and a fork of it.
class CopyMemory : public testing::Test {
 protected:
  void makeStores() {
    left_ = {};
    right_ = {};
    left_ = must(StoreSide::open("memory:"));
    right_ = must(StoreSide::open("memory:"));
    must(left_.store->createSession({.sessionId = "s"}));
    must(left_.store->appendSessionEntries("s", {message("x", "1"), message(std::string(20'000, 'y'), "2")}));
    must(left_.store->branchFromEntry("s", "2", {.sessionId = "f"}));
    must(left_.store->appendSessionEntries("f", {message("x", "own")}));
  }
  void expectEqual() {
    for (const char* const id : {"s", "f"}) {
      EXPECT_EQ(idsIn(*left_.store, id), idsIn(*right_.store, id)) << id;
      EXPECT_EQ(must(right_.store->verifySession(id)).problemCount, 0U) << id;
    }
  }

  StoreSide left_;
  StoreSide right_;
};

TEST_F(CopyMemory, ACopyGoesOnWhereItFailedAndGrows) {
  failEachOfAll([&](bool mayFail) {
    if (mayFail) {
      whileMemorySuffices([&] {
        makeStores();
        must(copySession(left_, right_, "s"));
        must(left_.store->appendSessionEntries("s", {message("x", "grown")}));
        return true;
      });
      (void)copySession(left_, right_, "f");
      return;
    }
    must(copySession(left_, right_, "f"));
    must(copySession(left_, right_, "s"));
    expectEqual();
  });
}

TEST_F(CopyMemory, TwoStoresAreBroughtTogetherInTheEnd) {
  failEachOfAll([&](bool mayFail) {
    if (mayFail) {
      whileMemorySuffices([&] {
        makeStores();
        must(copySession(left_, right_, "f"));
        must(left_.store->appendSessionEntries("s", {message("x", "left")}));
        must(right_.store->appendSessionEntries("s", {message("x", "right")}));
        return true;
      });
      (void)syncSession(left_, right_, "s");
      return;
    }
    must(syncSession(left_, right_, "s"));
    const auto left = idsIn(*left_.store, "s");
    const auto right = idsIn(*right_.store, "s");
    EXPECT_EQ(std::set(left.begin(), left.end()), std::set(right.begin(), right.end()));
    EXPECT_EQ(left.size(), right.size());
    EXPECT_EQ(must(left_.store->verifySession("s")).problemCount, 0U);
    EXPECT_EQ(must(right_.store->verifySession("s")).problemCount, 0U);
  });
}

TEST_F(CopyMemory, AnImportIsCompletedByTheNextOne) {
  for (const char* const name :
       {"claude-code/branches.jsonl", "gemini-cli/tools.jsonl",
        "codex/calls/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710003.jsonl"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string(BOUGH_TESTS_DIR "/transcript/fixtures/") + name;
    const auto whole = must(SessionStore::open("memory:"));
    // Without the header, which gets a new id each time.
    const auto imported = [](SessionStore& store, const std::string& file) {
      auto ids = idsIn(store, must(importTranscript(store, file)).sessionId);
      ids.erase(ids.begin());
      return ids;
    };
    const auto expected = imported(*whole, path);
    ASSERT_GT(expected.size(), 3U);
    std::unique_ptr<SessionStore> store;
    failEachOfAll([&](bool mayFail) {
      if (mayFail) {
        whileMemorySuffices([&] {
          store = must(SessionStore::open("memory:"));
          return true;
        });
        (void)importTranscript(*store, path);
        return;
      }
      EXPECT_EQ(imported(*store, path), expected);
    });
  }
}

TEST_F(CopyMemory, WhoFollowsAllSessionsMissesNothing) {
  const TempFolder folder;
  const auto opened = must(SessionStore::open(folder.path().string()));
  SessionStore& store = *opened;
  must(store.createSession({.sessionId = "s"}));
  int round = 0;
  failEachOfAll([&](bool mayFail) {
    if (!mayFail) return;
    const std::string id = "n" + std::to_string(round++);
    auto follower = whileMemorySuffices([&] { return must(store.followAll()); });
    whileMemorySuffices([&] {
      must(store.createSession({.sessionId = id}));
      must(store.appendSessionEntries(id, {message("x", "1"), message("x", "2")}));
      must(store.appendSessionEntries("s", {message("x", "s" + id)}));
      return true;
    });
    std::set<std::string> seen;
    for (int tries = 0; tries < 20 && !(seen.contains("2") && seen.contains("s" + id)); ++tries) {
      try {
        const auto got = follower.next(1'000);
        whileMemorySuffices([&] {
          if (!got) return false;
          for (const FollowedEntries& part : *got) {
            for (const Entry& entry : part.entries) seen.insert(entry.id);
          }
          return true;
        });
      } catch (const std::bad_alloc&) {
        // Entries that could not be delivered come with the next call.
        allocationsLeftOfAll = -1;
      }
    }
    EXPECT_TRUE(seen.contains("1") && seen.contains("2") && seen.contains("s" + id));
  });
}

}  // namespace
}  // namespace bough
