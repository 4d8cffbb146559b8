#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/system/file_io.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// So long that a test that reaches it has failed, and is not just slow.
constexpr int kForeverMs = 60'000;

class PosixWatcher : public testing::Test {
 protected:
  void append(std::string_view name) {
    auto file = root_->open(name, OpenMode::OpenOrCreate).value();
    ASSERT_TRUE(writeFully(*file, file->info()->sizeBytes, "x"));
  }
  // Consumes the changes so far.
  void drain() {
    while (watcher_->wait(0).value()) {
    }
  }

  TempFolder temp_;
  std::unique_ptr<Directory> root_ = posixFileSystem().openRoot(temp_.path().string(), false).value();
  std::unique_ptr<Watcher> watcher_ = root_->watch({"a"}).value();
};

TEST_F(PosixWatcher, SaysFalseWhenNothingHappens) {
  EXPECT_FALSE(watcher_->wait(0).value());
  EXPECT_FALSE(watcher_->wait(5).value());
}

TEST_F(PosixWatcher, WakesWhenTheFileIsMadeAppendedToRenamedAndRemoved) {
  append("a");
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
  drain();
  append("a");
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
  drain();
  ASSERT_TRUE(root_->rename("a", "b"));
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
  drain();
  append("a");
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
  drain();
  ASSERT_TRUE(root_->remove("a"));
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
}

TEST_F(PosixWatcher, FollowsTheNameToAReplacement) {
  append("a");
  append("a.tmp");
  drain();
  ASSERT_TRUE(root_->rename("a.tmp", "a"));
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
  drain();
  append("a");
  EXPECT_TRUE(watcher_->wait(kForeverMs).value());
}

TEST_F(PosixWatcher, WatchesAFileThatWasThereBefore) {
  append("old");
  auto watcher = root_->watch({"old"}).value();
  append("old");
  EXPECT_TRUE(watcher->wait(kForeverMs).value());
}

TEST_F(PosixWatcher, WakesInAnotherThread) {
  append("a");
  drain();
  std::atomic<bool> woken = false;
  std::thread waiter([&] { woken = watcher_->wait(kForeverMs).value(); });
  append("a");
  waiter.join();
  EXPECT_TRUE(woken);
}

TEST_F(PosixWatcher, IsWokenByHand) {
  std::thread waiter([&] { EXPECT_TRUE(watcher_->wait(kForeverMs).value()); });
  watcher_->wake();
  waiter.join();
  EXPECT_FALSE(watcher_->wait(0).value());
}

TEST_F(PosixWatcher, SleepsThroughChangesOfOtherFiles) {
  append("a");
  append("b");
  drain();
  append("b");
  append("c");
  ASSERT_TRUE(root_->remove("c"));
  EXPECT_FALSE(watcher_->wait(0).value());
}

TEST_F(PosixWatcher, KeepsItsTimeoutWhileOtherFilesComeAndGo) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kChurn = std::chrono::milliseconds(5000);
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  std::thread churn([&] {
    for (const auto end = Clock::now() + kChurn; !stop && Clock::now() < end; ++rounds) {
      (void)root_->open("other", OpenMode::CreateNew);
      (void)root_->remove("other");
    }
  });
  while (rounds == 0) std::this_thread::yield();
  const auto begin = Clock::now();
  EXPECT_FALSE(watcher_->wait(20).value());
  EXPECT_LT(Clock::now() - begin, kChurn / 2);
  stop = true;
  churn.join();
}

TEST_F(PosixWatcher, WorksAfterTheFolderMoved) {
  auto folder = root_->openDirectory("before", true).value();
  std::filesystem::rename(temp_ / "before", temp_ / "after");
  auto watcher = folder->watch({"a"}).value();
  ASSERT_TRUE(folder->open("a", OpenMode::CreateNew));
  EXPECT_TRUE(watcher->wait(kForeverMs).value());
}

TEST_F(PosixWatcher, TellsWhichNamesChanged) {
  auto both = root_->watch({"a", "b"}).value();
  auto all = root_->watch({}).value();
  append("b");
  append("c");
  EXPECT_TRUE(both->wait(kForeverMs).value());
  EXPECT_EQ(both->takeChanged().names, std::set<std::string>{"b"});
  EXPECT_TRUE(both->takeChanged().names.empty());
  EXPECT_TRUE(all->wait(kForeverMs).value());
  EXPECT_EQ(all->takeChanged().names, (std::set<std::string>{"b", "c"}));
  append("c");
  EXPECT_TRUE(all->wait(kForeverMs).value());
  EXPECT_EQ(all->takeChanged().names, std::set<std::string>{"c"});
  EXPECT_FALSE(both->wait(0).value());
}

// Each waits on its own thread; one of them reads the events for all.
TEST_F(PosixWatcher, ManyWatchersShareOneDescriptor) {
  const auto openDescriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = openDescriptors();
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 300; ++i) watchers.push_back(root_->watch({"f" + std::to_string(i)}).value());
  EXPECT_EQ(openDescriptors(), before);
  std::vector<std::thread> waiting;
  std::atomic<int> woken = 0;
  for (const int i : {7, 70, 270}) {
    waiting.emplace_back([&, i] { woken += watchers[static_cast<std::size_t>(i)]->wait(kForeverMs).value() ? 1 : 0; });
  }
  for (const int i : {70, 270, 7}) append("f" + std::to_string(i));
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(woken, 3);
  EXPECT_FALSE(watchers[8]->wait(0).value());
}

}  // namespace
}  // namespace bough
