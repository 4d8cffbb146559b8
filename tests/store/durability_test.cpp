#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "store/file/file_backend.h"
#include "store/store_support.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

const AppendOptions kBuffered{.durability = Durability::Buffered};

class BufferedTest : public StoreTest {
 protected:
  // Returns what another process would see.
  Ids onDisk(const std::string& id = "s") { return idsOf(*open(), id); }
};

TEST_F(BufferedTest, WaitsInMemoryUntilItIsFlushed) {
  store = open({.bufferedEntries = 100, .bufferedMs = 1'000'000});
  fill("s", 1);
  const auto result = must(store->appendSessionEntries("s", {message("x", "b1"), message("y", "b2")}, kBuffered));
  EXPECT_EQ(result.appendedCount, 2U);
  EXPECT_EQ(result.lastAppendedEntryId, "b2");
  EXPECT_EQ(onDisk(), (Ids{"e1"}));
  must(store->flush());
  EXPECT_EQ(onDisk(), (Ids{"e1", "b1", "b2"}));
  EXPECT_EQ(must(store->loadEntry("s", "b1")).parentId, "e1");
}

TEST_F(BufferedTest, IsFlushedByItsCountByReadingByASyncAppendAndByClosing) {
  store = open({.durability = Durability::Buffered, .bufferedEntries = 3, .bufferedMs = 1'000'000});
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "b1"), message("x", "b2")}));
  EXPECT_EQ(onDisk(), Ids{});
  must(store->appendSessionEntries("s", {message("x", "b3")}));
  EXPECT_EQ(onDisk().size(), 3U) << "by its count";
  must(store->appendSessionEntries("s", {message("x", "b4")}));
  EXPECT_EQ(idsOf(*store, "s").size(), 4U) << "what one wrote one reads";
  must(store->appendSessionEntries("s", {message("x", "b5")}));
  must(store->appendSessionEntries("s", {message("x", "b6")}, {.durability = Durability::Sync}));
  EXPECT_EQ(onDisk(), (Ids{"b1", "b2", "b3", "b4", "b5", "b6"})) << "in order";
  must(store->appendSessionEntries("s", {message("x", "b7")}));
  must(store->close());
  EXPECT_EQ(onDisk().size(), 7U);
}

TEST_F(BufferedTest, IsFlushedByItsAge) {
  store = open({.bufferedEntries = 100, .bufferedMs = 5});
  fill("s", 0);
  auto other = open();
  auto follower = must(other->follow("s"));
  ASSERT_EQ(must(follower.next(5000)).size(), 1U);
  must(store->appendSessionEntries("s", {message("x", "b1")}, kBuffered));
  EXPECT_EQ(idsOf(must(follower.next(20'000))), (Ids{"b1"}));
}

TEST_F(BufferedTest, IsCheckedAtOnce) {
  store = open({.bufferedMs = 1'000'000});
  fill("s", 1);
  must(store->appendSessionEntries("s", {message("x", "b1")}, kBuffered));
  EXPECT_EQ(must(store->appendSessionEntries("s", {message("x", "b1"), message("m1", "e1")}, kBuffered)).duplicateCount,
            2U);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("y", "b1")}, kBuffered)).code, ErrorCode::IdConflict);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("y", "b2", "no")}, kBuffered)).code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->appendSessionEntries("nobody", {message("y")}, kBuffered)).code, ErrorCode::NotFound);
  EXPECT_EQ(onDisk(), (Ids{"e1"}));
}

TEST_F(BufferedTest, WhatGoesWrongLaterIsSaidByTheNextCall) {
  store = open({.bufferedMs = 1'000'000});
  fill("s", 1);
  must(store->appendSessionEntries("s", {message("x", "b1")}, kBuffered));
  must(open()->appendSessionEntries("s", {message("other", "b1")}));
  const Error error = refused(store->loadSessionEntries("s"));
  EXPECT_EQ(error.code, ErrorCode::IdConflict);
  EXPECT_TRUE(error.message.contains("1 buffered entries of session s were not stored"));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "b1"})) << "it is said once";
}

// A store on simulated files.
class SimStore : public testing::Test {
 protected:
  std::unique_ptr<SessionStore> open() {
    auto backend = must(FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()));
    return must(SessionStore::open(SessionStoreInit{.backend = backend, .options = {}}));
  }
  SimFileSystem files;
  SimEnvironment world{files};
};

// Without a crash nothing is lost: entries that a full disk rejects stay buffered, and the buffer does not grow beyond
// its limit.
TEST_F(SimStore, BufferedEntriesOutlastAFullDisk) {
  auto backend = must(FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()));
  auto store = must(SessionStore::open(
      SessionStoreInit{.backend = backend, .options = {.bufferedEntries = 2, .bufferedMs = 1'000'000}}));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "b1")}, kBuffered));
  files.limitSpace(0);
  must(store->appendSessionEntries("s", {message("x", "b2")}, kBuffered));
  const Error first = refused(store->appendSessionEntries("s", {message("x", "b3")}, kBuffered));
  EXPECT_EQ(first.code, ErrorCode::NoSpace);
  EXPECT_TRUE(first.message.contains("2 buffered entries of session s still wait")) << first.message;
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x", "b3")}, kBuffered)).code, ErrorCode::NoSpace);
  EXPECT_EQ(refused(store->flush()).code, ErrorCode::NoSpace);
  EXPECT_EQ(refused(store->close()).code, ErrorCode::NoSpace) << "it stays open";

  files.limitSpace(std::nullopt);
  must(store->appendSessionEntries("s", {message("x", "b4")}, kBuffered));
  must(store->close());
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"b1", "b2", "b4"}));
}

// After its maximum, the time stays the same, but entries are still accepted.
TEST_F(SimStore, AClockBeyondAllYearsLosesNoEntry) {
  auto store = open();
  must(store->createSession({.sessionId = "s"}));
  std::vector<Entry> expected = must(store->loadSessionEntries("s"));
  for (const std::uint64_t farMs : {UINT64_C(253'402'300'800'000), UINT64_C(1) << 48, UINT64_C(1) << 60}) {
    world.clock().advance(farMs);
    for (int i = 0; i < 3; ++i) {
      const AppendResult appended = must(store->appendSessionEntries("s", {message("x", "")}));
      expected.push_back(must(store->loadEntry("s", appended.lastAppendedEntryId)));
      EXPECT_EQ(expected.back().timestamp, "9999-12-31T23:59:59.999Z");
      EXPECT_EQ(expected.back().parentId, i == 0 && expected.size() == 2 ? "" : expected[expected.size() - 2].id);
    }
    must(store->branchFromEntry("s", expected.back().id));
  }
  const auto entries = must(open()->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), expected.size());
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i].id, expected[i].id);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

// Returns true when threads that append during another append's sync share one sync. Tries once.
bool shareASync(SimFileSystem& files, SessionStore& store) {
  constexpr int kThreads = 8;
  std::atomic<int> begun = 0;
  std::vector<std::thread> threads;
  files.clearTrace();
  files.beforeSync([&] {
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++begun;
        must(store.appendSessionEntries("s", {message("x")}));
      });
    }
    while (begun < kThreads) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // give them a chance to arrive
  });
  must(store.appendSessionEntries("s", {message("x")}));
  for (std::thread& thread : threads) thread.join();
  const std::string trace = files.trace();
  int syncs = 0;
  for (std::size_t at = trace.find("sync "); at != std::string::npos; at = trace.find("sync ", at + 1)) ++syncs;
  return syncs < kThreads + 1;
}

TEST_F(SimStore, ThreadsThatAppendAtTheSameTimeShareASync) {
  auto store = open();
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x")}));
  bool shared = false;
  for (int tries = 0; tries < 100 && !shared; ++tries) shared = shareASync(files, *store);
  EXPECT_TRUE(shared);
}

// The background retry must end before the objects that it uses.
TEST_F(SimStore, AStoreMayEndWhileBufferedEntriesOfAForkWait) {
  for (int round = 0; round < 20; ++round) {
    const std::string fork = "f" + std::to_string(round);
    auto backend = must(FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()));
    auto store = must(
        SessionStore::open(SessionStoreInit{.backend = backend, .options = {.bufferedEntries = 100, .bufferedMs = 1}}));
    if (round == 0) must(store->createSession({.sessionId = "p"}));
    must(store->appendSessionEntries("p", {message("x", fork)}));
    must(store->branchFromEntry("p", fork, {.sessionId = fork}));
    files.limitSpace(0);
    must(store->appendSessionEntries(fork, {message("x", "waits")}, kBuffered));
    EXPECT_EQ(refused(store->close()).code, ErrorCode::NoSpace);
    store.reset();
    files.limitSpace(UINT64_MAX);
  }
}

TEST_F(SimStore, AFailedSyncPoisonsTheHandleAndNothingElse) {
  auto store = open();
  must(store->createSession({.sessionId = "s"}));
  must(store->createSession({.sessionId = "t"}));
  must(store->appendSessionEntries("s", {message("x", "a")}));
  must(store->appendSessionEntries("t", {message("x", "a")}));
  files.failSync();
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x", "b")})).code, ErrorCode::Poisoned);
  const std::uint64_t before = files.operationCount();
  const Error error = refused(store->appendSessionEntries("s", {message("x", "c")}));
  EXPECT_EQ(error.code, ErrorCode::Poisoned);
  EXPECT_FALSE(error.retryable);
  EXPECT_EQ(files.operationCount(), before) << "the sync is not tried again";
  EXPECT_TRUE(store->appendSessionEntries("t", {message("x", "b")})) << "other sessions go on";
  EXPECT_TRUE(store->loadSessionEntries("s")) << "it can be read";
  store = open();
  must(store->appendSessionEntries("s", {message("x", "d")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"a", "b", "d"})) << "what was written stays, though nobody was promised it";
}

TEST_F(SimStore, AFullDiskIsSaidAndNothingIsHalfWritten) {
  auto store = open();
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "a")}));
  files.limitSpace(100);
  const Error error = refused(store->appendSessionEntries("s", {message(std::string(1000, 'x'), "b")}));
  EXPECT_EQ(error.code, ErrorCode::NoSpace);
  EXPECT_TRUE(error.retryable);
  EXPECT_EQ(refused(store->createSession({.sessionId = "t"})).code, ErrorCode::NoSpace);
  files.clearFaults();
  must(store->appendSessionEntries("s", {message(std::string(1000, 'x'), "b")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"a", "b"}));
  EXPECT_EQ(must(store->listSessions()), (Ids{"s"}));
}

}  // namespace
}  // namespace bough
