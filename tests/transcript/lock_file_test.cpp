// The locks of other agents: awaited while their owner may be running, and taken over when it cannot be.
#include "transcript/source/lock_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough::transcript {
namespace {

namespace fs = std::filesystem;

void makeOld(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(1));
}

TEST(LockFile, AnOldLockAndOneOfADeadProcessAreTakenOver) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "sessions.json.lock";
  writeBytes(path, R"({"pid":1,"createdAt":"2026-01-01T00:00:00.000Z"})");
  makeOld(path);
  EXPECT_TRUE(LockFile::acquire(path));
  EXPECT_FALSE(fs::exists(path)) << "what was taken is given back";
  // Linux never uses a process id this high; an id that was used before could belong to another process now.
  constexpr int kNobody = (1 << 22) + 1;
  writeBytes(path, R"({"pid":)" + std::to_string(kNobody) + "}");
  const auto taken = LockFile::acquire(path);
  EXPECT_TRUE(taken) << (taken ? "" : taken.error().message);
}

TEST(LockFile, ALockOfALivingProcessIsWaitedFor) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "sessions.json.lock";
  writeBytes(path, R"({"pid":)" + std::to_string(::getpid()) + "}");
  std::atomic<bool> released = false;
  const std::jthread owner([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    released = true;
    fs::remove(path);
  });
  EXPECT_TRUE(LockFile::acquire(path));
  EXPECT_TRUE(released);
}

// Many threads find the same stale lock at once: only one at a time may replace it.
template <typename Lock>
void takeAtOnce(const std::function<void()>& leaveStale, const std::string& path) {
  constexpr int kRounds = 20;
  constexpr int kTakers = 4;
  for (int round = 0; round < kRounds; ++round) {
    leaveStale();
    std::atomic<int> holders = 0;
    std::atomic<int> most = 0;
    std::barrier start(kTakers);
    std::vector<std::jthread> takers;
    for (int i = 0; i < kTakers; ++i) {
      takers.emplace_back([&] {
        start.arrive_and_wait();
        const auto lock = Lock::acquire(path);
        ASSERT_TRUE(lock) << lock.error().message;
        const int now = ++holders;
        if (now > most) most = now;
        std::this_thread::yield();
        --holders;
      });
    }
    takers.clear();
    EXPECT_EQ(most, 1);
  }
}

TEST(LockFile, AStaleOneIsTakenOverOnce) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "sessions.json.lock";
  const auto leaveStale = [&] {
    writeBytes(path, R"({"pid":1})");
    makeOld(path);
  };
  takeAtOnce<LockFile>(leaveStale, path);
}

TEST(LockFolder, AStaleOneIsTakenOverOnce) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / ".lock";
  const auto leaveStale = [&] {
    fs::create_directory(path);
    makeOld(path);
  };
  takeAtOnce<LockFolder>(leaveStale, path);
}

TEST(LockFolder, OneThatIsOldIsTakenOverAndANewOneIsWaitedFor) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / ".lock";
  fs::create_directory(path);
  makeOld(path);
  EXPECT_TRUE(LockFolder::acquire(path));
  EXPECT_FALSE(fs::exists(path));
  fs::create_directory(path);
  std::atomic<bool> released = false;
  const std::jthread owner([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    released = true;
    fs::remove(path);
  });
  EXPECT_TRUE(LockFolder::acquire(path));
  EXPECT_TRUE(released);
}

}  // namespace
}  // namespace bough::transcript
