// A process that may open few files, or has none left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "store/store_support.h"

namespace bough {
namespace {

class OpenFiles : public StoreTest {
 protected:
  OpenFiles() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFiles() override {
    for (const int file : taken_) ::close(file);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

  void allow(rlim_t files) {
    rlimit limit = before_;
    limit.rlim_cur = files;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  // Another part of the program opens all it can.
  void takeAll() {
    for (int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC); file >= 0;
         file = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
      taken_.push_back(file);
    ASSERT_EQ(errno, EMFILE);
  }

  rlimit before_{};
  std::vector<int> taken_;
};

TEST_F(OpenFiles, ManySessionsNeedFew) {
  allow(64);
  for (int i = 0; i < 200; ++i) fill("s" + std::to_string(i), 1);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(must(store->loadSessionEntries("s" + std::to_string(i))).size(), 2U) << i;
  // Most are left for others.
  takeAll();
  EXPECT_GT(taken_.size(), 32U);
}

TEST_F(OpenFiles, SessionsAreOpenedAndClosedByThreadsAtOnce) {
  allow(64);
  constexpr int kSessions = 40;
  for (int i = 0; i < kSessions; ++i) fill("s" + std::to_string(i), 1);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 12 * kSessions; ++i) {
        EXPECT_EQ(must(store->loadSessionEntries("s" + std::to_string(i % kSessions))).size(), 2U);
      }
    });
  }
}

TEST_F(OpenFiles, ASessionThatIsGoneIsForgotten) {
  allow(64);
  constexpr int kSessions = 40;
  for (int i = 0; i < kSessions; ++i) fill("s" + std::to_string(i), 1);
  for (int i = 0; i < kSessions; i += 2)
    std::filesystem::remove(folder / ("sessions/s" + std::to_string(i) + ".jsonl"));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kSessions; ++i) {
      const bool isThere = store->loadSessionEntries("s" + std::to_string(i)).has_value();
      EXPECT_EQ(isThere, i % 2 == 1) << i;
    }
  }
}

TEST_F(OpenFiles, AnAppendToADeepForkOpensNoneOfItsOrigins) {
  allow(64);
  Session deepest = must(store->create({.sessionId = "s0"}));
  for (int i = 1; i < 40; ++i) {
    const auto added = must(deepest.append({message("m")}));
    deepest = must(deepest.fork(added.lastAppendedEntryId, {.sessionId = "s" + std::to_string(i)}));
  }
  must(deepest.append({message("m")}));
  const int events = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(events, (folder / "sessions").c_str(), IN_OPEN), 0);
  must(deepest.append({message("m")}));
  std::array<char, 4096> opened{};
  EXPECT_EQ(::read(events, opened.data(), opened.size()), -1) << "one was opened";
  ::close(events);
  // A session that another process replaces or removes is noticed all the same.
  must(open()->deleteSession("s5", {.detachForks = true}));
  must(deepest.append({message("m")}));
  EXPECT_EQ(must(deepest.conversation()).size(), 42U);
}

TEST_F(OpenFiles, LogsThatNobodyUsesAreClosedForOthers) {
  allow(128);
  for (int i = 0; i < 10; ++i) fill("s" + std::to_string(i), 1);
  takeAll();
  fill("new", 1);
  EXPECT_EQ(must(store->loadSessionEntries("s0")).size(), 2U);
  EXPECT_EQ(must(store->loadSessionEntries("new")).size(), 2U);
}

TEST_F(OpenFiles, WithoutAnyTheCallFailsUntilThereAreSome) {
#ifdef BOUGH_SANITIZED
  GTEST_SKIP() << "to look at an object, the sanitizer opens a pipe";
#endif
  allow(128);
  takeAll();
  const auto failed = store->createSession({.sessionId = "new"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Io);
  EXPECT_TRUE(failed.error().retryable);
  EXPECT_TRUE(failed.error().hint.contains("ulimit -n")) << failed.error().hint;
  for (const int file : taken_) ::close(file);
  taken_.clear();
  fill("new", 1);
  EXPECT_EQ(must(store->loadSessionEntries("new")).size(), 2U);
}

}  // namespace
}  // namespace bough
