#include <gtest/gtest.h>

#include <thread>

#include "base/system/file_io.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

TEST(SimTrace, ShowsChangesAndLocksInOrder) {
  SimFileSystem sim;
  auto root = sim.openRoot("/store", true).value();
  auto sessions = root->openDirectory("sessions", true).value();
  ASSERT_TRUE(root->sync());
  {
    auto file = sessions->open("a.jsonl", OpenMode::OpenOrCreate).value();
    ASSERT_TRUE(file->tryLock(LockKind::Exclusive));
    ASSERT_TRUE(file->writeAt(0, std::string(230, 'x')));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(file->truncate(10));
    ASSERT_TRUE(file->unlock());
    ASSERT_TRUE(file->tryLock(LockKind::Shared));
  }
  ASSERT_TRUE(sessions->link("a.jsonl", "b.jsonl"));
  ASSERT_TRUE(sessions->rename("b.jsonl", "c.jsonl"));
  ASSERT_TRUE(sessions->remove("a.jsonl"));
  ASSERT_TRUE(sessions->sync());
  EXPECT_EQ(sim.trace(),
            "mkdir /store\n"
            "mkdir sessions\n"
            "syncdir .\n"
            "create sessions/a.jsonl\n"
            "lock sessions/a.jsonl exclusive\n"
            "write sessions/a.jsonl 0+230\n"
            "sync sessions/a.jsonl\n"
            "truncate sessions/a.jsonl 10\n"
            "unlock sessions/a.jsonl\n"
            "lock sessions/a.jsonl shared\n"
            "unlock sessions/a.jsonl\n"
            "link sessions/a.jsonl sessions/b.jsonl\n"
            "rename sessions/b.jsonl sessions/c.jsonl\n"
            "remove sessions/a.jsonl\n"
            "syncdir sessions\n");
}

TEST(SimTrace, LeavesOutReadsAndWhatFailedByItself) {
  SimFileSystem sim;
  auto root = sim.openRoot("/store", true).value();
  sim.put("/store/a", "bytes");
  sim.clearTrace();
  auto file = root->open("a", OpenMode::ReadWrite).value();
  auto other = root->open("a", OpenMode::ReadWrite).value();
  char buffer[8];
  ASSERT_TRUE(file->readAt(0, buffer));
  ASSERT_TRUE(file->info());
  ASSERT_TRUE(root->list());
  ASSERT_FALSE(root->remove("missing"));
  ASSERT_TRUE(file->tryLock(LockKind::Exclusive));
  ASSERT_FALSE(other->tryLock(LockKind::Exclusive));
  EXPECT_EQ(sim.trace(), "lock a exclusive\n");
}

TEST(SimTrace, NamesEveryCall) {
  SimFileSystem sim;
  auto root = sim.openRoot("/store", true).value();
  auto file = root->open("a", OpenMode::CreateNew).value();
  char buffer[8];
  ASSERT_TRUE(file->readAt(4, buffer));
  ASSERT_TRUE(root->info("a"));
  ASSERT_EQ(sim.callCount(), 4U);
  EXPECT_EQ(sim.callName(1), "openroot /store");
  EXPECT_EQ(sim.callName(2), "create a");
  EXPECT_EQ(sim.callName(3), "read a 4+8");
  EXPECT_EQ(sim.callName(4), "info a");
  EXPECT_EQ(sim.operationName(sim.operationCount()), "create a");
}

TEST(SimFileSystemNames, ThatLeaveTheFolderAreRefused) {
  SimFileSystem sim;
  auto root = sim.openRoot("/store", true).value();
  for (const char* name : {"..", ".", "a/b", "/a"}) {
    EXPECT_EQ(root->open(name, OpenMode::OpenOrCreate).error(), EINVAL) << name;
    EXPECT_EQ(root->openDirectory(name, true).error(), EINVAL) << name;
  }
  EXPECT_EQ(root->open("", OpenMode::OpenOrCreate).error(), ENOENT);
  EXPECT_EQ(root->watch({"a"}).error(), ENOTSUP);
}

TEST(SimFileSystemThreads, MayUseItTogether) {
  SimFileSystem sim;
  auto root = sim.openRoot("/store", true).value();
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        auto file = root->open("counter", OpenMode::OpenOrCreate).value();
        ASSERT_TRUE(lockWithin(*file, LockKind::Exclusive, 60'000, "counter"));
        const FileLock lock(*file);
        const std::string before = readWhole(*file, 100).value();
        ASSERT_TRUE(writeFully(*file, 0, std::to_string(before.empty() ? 1 : std::stoi(before) + 1)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sim.contents("/store/counter"), std::to_string(kThreads * kRounds));
}

TEST(SimEnvironment, RepeatsItself) {
  SimFileSystem files;
  SimEnvironment one(files, 5);
  SimEnvironment two(files, 5);
  SimEnvironment three(files, 6);
  const std::uint64_t first = one.environment().random.next();
  EXPECT_EQ(first, two.environment().random.next());
  EXPECT_NE(first, three.environment().random.next());
  EXPECT_EQ(one.environment().clock.nowMs(), SimClock::kStartMs);
  EXPECT_EQ(one.environment().clock.nowMs(), SimClock::kStartMs + 1);
  one.clock().advance(1000);
  EXPECT_EQ(one.environment().clock.nowMs(), SimClock::kStartMs + 1002);
  one.clock().setStep(0);
  EXPECT_EQ(one.environment().clock.nowMs(), one.environment().clock.nowMs());
}

}  // namespace
}  // namespace bough
