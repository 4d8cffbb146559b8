// A process with a low limit of open files, or without free descriptors.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "store/store_support.h"

namespace bough {
namespace {

// Counts how often a file in a folder is opened.
class OpenCount {
 public:
  explicit OpenCount(const std::string& folder) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(events_, folder.c_str(), IN_OPEN), 0);
  }
  ~OpenCount() { ::close(events_); }
  OpenCount(const OpenCount&) = delete;
  OpenCount& operator=(const OpenCount&) = delete;

  [[nodiscard]] int sinceLastTime() const {
    int count = 0;
    alignas(inotify_event) std::array<char, 65536> bytes{};
    for (ssize_t size = 0; (size = ::read(events_, bytes.data(), bytes.size())) > 0;) {
      for (ssize_t at = 0; at < size; ++count) {
        inotify_event event{};
        std::memcpy(&event, bytes.data() + at, sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
    return count;
  }

 private:
  int events_;
};

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
  // Simulates another part of the program that opens as many files as possible.
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
  // The store leaves most descriptors to others.
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
  const OpenCount opened(folder / "sessions");
  must(deepest.append({message("m")}));
  EXPECT_EQ(opened.sinceLastTime(), 0);
  // A session that another process replaces or removes is still noticed.
  must(open()->deleteSession("s5", {.detachForks = true}));
  must(deepest.append({message("m")}));
  EXPECT_EQ(must(deepest.conversation()).size(), 42U);
}

TEST_F(OpenFiles, AChainOfForksIsNotWalkedAgainForEachOfThem) {
  allow(64);
  constexpr int kForks = 100;
  Session deepest = must(store->create({.sessionId = "s000"}));
  for (int i = 1; i < kForks; ++i) {
    const auto added = must(deepest.append({message("m")}));
    deepest = must(deepest.fork(added.lastAppendedEntryId, {.sessionId = fmt::format("s{:03}", i)}));
  }
  const auto fresh = open();
  const OpenCount opened(folder / "sessions");
  for (const std::string& id : must(fresh->listSessions())) {
    EXPECT_EQ(must(fresh->sessionState(id)).lostSession, "");
  }
  EXPECT_LT(opened.sinceLastTime(), 10 * kForks);
  EXPECT_EQ(must(must(fresh->session("s099")).conversation()).size(), 99U);
  // The loss of a session is still noticed.
  std::filesystem::remove(logPath("s050"));
  EXPECT_EQ(must(fresh->sessionState("s099")).lostSession, "s050");
  EXPECT_EQ(must(fresh->sessionState("s051")).lostSession, "s050");
  EXPECT_EQ(must(fresh->sessionState("s049")).lostSession, "");
}

TEST_F(OpenFiles, AForksHeaderIsReadWithoutItsOrigins) {
  allow(64);
  Session deepest = must(store->create({.sessionId = "s0"}));
  for (int i = 1; i < 40; ++i) {
    const auto added = must(deepest.append({message("m")}));
    deepest = must(deepest.fork(added.lastAppendedEntryId, {.sessionId = "s" + std::to_string(i)}));
  }
  const auto fresh = open();
  const OpenCount opened(folder / "sessions");
  const auto headers =
      must(fresh->loadSessionEntries("s39", {.limit = 1, .type = std::string(entry_type::kSessionHeader)}));
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_TRUE(headers.front().payload.contains("s38"));
  EXPECT_LT(opened.sinceLastTime(), 10);
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
