#include "base/system/file_io.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <vector>

#include "base/text/utf8.h"
#include "support/sim_file_system.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::string readBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeBytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class FileIo : public testing::Test {
 protected:
  std::uint64_t nextCall() { return sim_.callCount() + 1; }

  SimFileSystem sim_;
  std::unique_ptr<Directory> root_ = sim_.openRoot("/store", true).value();
  std::unique_ptr<File> file_ = root_->open("a", OpenMode::CreateNew).value();
};

TEST_F(FileIo, WritesAllDespiteInterruptionsAndShortWrites) {
  const std::string bytes = "0123456789";
  sim_.failOperation(nextCall(), EINTR);
  sim_.shortWrite(nextCall() + 1, 3);
  sim_.failOperation(nextCall() + 2, EINTR);
  sim_.shortWrite(nextCall() + 3, 1);
  sim_.clearTrace();
  ASSERT_TRUE(writeFully(*file_, 2, bytes));
  EXPECT_EQ(sim_.contents("/store/a"), std::string(2, '\0') + bytes);
  EXPECT_EQ(sim_.trace(),
            "write a 2+10 -> EINTR\nwrite a 2+10 -> 3\nwrite a 5+7 -> EINTR\nwrite a 5+7 -> 1\nwrite a 6+6\n");
}

TEST_F(FileIo, WritesStopAtTheFirstRealError) {
  sim_.shortWrite(nextCall(), 4);
  sim_.failOperation(nextCall() + 1, ENOSPC);
  EXPECT_EQ(writeFully(*file_, 0, "0123456789").error(), ENOSPC);
  EXPECT_EQ(sim_.contents("/store/a"), "0123");
}

TEST_F(FileIo, WritesThatMakeNoProgressEnd) {
  sim_.shortWrite(nextCall(), 0);
  EXPECT_EQ(writeFully(*file_, 0, "x").error(), EIO);
}

TEST_F(FileIo, WritesOnAFullDiskSayNoSpace) {
  sim_.limitSpace(4);
  EXPECT_EQ(writeFully(*file_, 0, "0123456789").error(), ENOSPC);
  EXPECT_EQ(sim_.contents("/store/a"), "0123");
}

TEST_F(FileIo, ReadsAllDespiteInterruptionsAndShortReads) {
  ASSERT_TRUE(writeFully(*file_, 0, "0123456789"));
  std::string buffer(8, '?');
  sim_.failOperation(nextCall(), EINTR);
  sim_.shortRead(nextCall() + 1, 3);
  sim_.failOperation(nextCall() + 2, EINTR);
  EXPECT_EQ(readFully(*file_, 1, buffer), 8U);
  EXPECT_EQ(buffer, "12345678");
}

TEST_F(FileIo, ReadsReturnWhatThereIs) {
  ASSERT_TRUE(writeFully(*file_, 0, "0123"));
  std::string buffer(8, '?');
  EXPECT_EQ(readFully(*file_, 2, buffer), 2U);
  EXPECT_EQ(readFully(*file_, 4, buffer), 0U);
  sim_.failOperation(nextCall(), EIO);
  EXPECT_EQ(readFully(*file_, 0, buffer).error(), EIO);
}

TEST_F(FileIo, ReadsWholeFilesUpToALimit) {
  ASSERT_TRUE(writeFully(*file_, 0, "0123"));
  EXPECT_EQ(readWhole(*file_, 4), "0123");
  EXPECT_EQ(readWhole(*file_, 3).error(), EFBIG);
  sim_.failOperation(nextCall(), EIO);
  EXPECT_EQ(readWhole(*file_, 4).error(), EIO);
  sim_.failOperation(nextCall() + 1, EIO);
  EXPECT_EQ(readWhole(*file_, 4).error(), EIO);
}

TEST_F(FileIo, WaitsForALockUntilItIsFree) {
  auto other = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(other->tryLock(LockKind::Exclusive));
  Result<void> locked;
  const std::uint64_t before = sim_.callCount();
  std::thread waiter([&] { locked = lockWithin(*file_, LockKind::Exclusive, 60'000, "a"); });
  while (sim_.callCount() < before + 3) std::this_thread::yield();
  ASSERT_TRUE(other->unlock());
  waiter.join();
  EXPECT_TRUE(locked);
}

TEST_F(FileIo, GivesUpOnALockWithBusy) {
  auto other = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(other->tryLock(LockKind::Shared));
  EXPECT_TRUE(lockWithin(*file_, LockKind::Shared, 0, "/store/a"));
  const auto locked = lockWithin(*file_, LockKind::Exclusive, 5, "/store/a");
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::Busy);
  EXPECT_TRUE(locked.error().retryable);
  EXPECT_TRUE(locked.error().message.contains("/store/a"));
}

TEST_F(FileIo, LocksDespiteInterruptionsButNotDespiteErrors) {
  sim_.failOperation(nextCall(), EINTR);
  EXPECT_TRUE(lockWithin(*file_, LockKind::Exclusive, 60'000, "a"));
  sim_.failOperation(nextCall(), ENOLCK);
  EXPECT_EQ(lockWithin(*file_, LockKind::Exclusive, 60'000, "a").error().code, ErrorCode::Io);
}

// Without turns, a thread that takes the lock again and again may leave no gap in which another thread's try succeeds.
TEST_F(FileIo, WhoAsksInTurnComesBehindWhoWaits) {
  auto busy = root_->open("a", OpenMode::ReadWrite).value();
  auto witness = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(lockWithin(*busy, LockKind::Exclusive, 60'000, "a"));
  std::atomic<bool> waiterHadIt = false;
  std::thread waiter([&] {
    ASSERT_TRUE(lockWithin(*file_, LockKind::Exclusive, 60'000, "a"));
    waiterHadIt = true;
    ASSERT_TRUE(file_->unlock());
  });
  while (witness->tryLockQueue()) ASSERT_TRUE(witness->unlockQueue());
  ASSERT_TRUE(busy->unlock());
  ASSERT_TRUE(lockWithin(*busy, LockKind::Exclusive, 60'000, "a", LockOrder::Queued));
  EXPECT_TRUE(waiterHadIt);
  waiter.join();
  EXPECT_TRUE(witness->tryLockQueue()) << "nobody waits any more";
}

TEST_F(FileIo, TheTurnIsLeftWhenTheLockIsNotGot) {
  auto other = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(other->tryLock(LockKind::Exclusive));
  EXPECT_FALSE(lockWithin(*file_, LockKind::Exclusive, 1, "a"));
  EXPECT_TRUE(other->tryLockQueue());
}

TEST_F(FileIo, LocksWhereTheFileSystemKnowsNoTurns) {
  sim_.failOperation(nextCall(), EINVAL);
  EXPECT_TRUE(lockWithin(*file_, LockKind::Exclusive, 1, "a", LockOrder::Queued));
}

TEST_F(FileIo, ALockEndsWithItsScope) {
  auto other = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(file_->tryLock(LockKind::Exclusive));
  {
    FileLock lock(*file_);
    const FileLock moved(std::move(lock));
    EXPECT_FALSE(other->tryLock(LockKind::Exclusive));
  }
  EXPECT_TRUE(other->tryLock(LockKind::Exclusive));
}

// The trace, with `*` instead of the number in each temporary name.
std::string withoutNumbers(const std::string& trace) {
  return std::regex_replace(trace, std::regex("[.][0-9a-f]{16}[.]tmp"), ".*.tmp");
}

TEST_F(FileIo, WritesDurablyInThisOrder) {
  sim_.clearTrace();
  ASSERT_TRUE(writeDurably(*root_, "b", "bytes"));
  EXPECT_EQ(withoutNumbers(sim_.trace()),
            "create b.*.tmp\nwrite b.*.tmp 0+5\nsync b.*.tmp\nrename b.*.tmp b\nsyncdir .\n");
}

TEST_F(FileIo, RefusesToReplaceWhenAsked) {
  ASSERT_TRUE(writeDurably(*root_, "b", "first", IfPresent::Refuse));
  const auto second = writeDurably(*root_, "b", "second", IfPresent::Refuse);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::AlreadyExists);
  EXPECT_EQ(sim_.contents("/store/b"), "first");
  EXPECT_EQ(sim_.names("/store"), (std::vector<std::string>{"a", "b"}));
}

TEST_F(FileIo, WritesDurablyWholeOrNotAtAllWhateverTheCrash) {
  const std::string fresh(1300, 'n');
  sim_.put("/store/b", "old");
  const std::uint64_t before = sim_.operationCount();
  ASSERT_TRUE(writeDurably(*root_, "b", fresh));
  const std::uint64_t acknowledged = sim_.operationCount();
  int images = 0;
  sim_.forEachCrash({.firstOperation = before, .writeStepBytes = 100}, [&](CrashImage& image) {
    ++images;
    const std::string found = image.files->contents("/store/b").value_or("(none)");
    EXPECT_TRUE(found == fresh || (found == "old" && image.point.completed() < acknowledged)) << image.description;
  });
  EXPECT_GT(images, 100);
}

TEST(WriteDurably, RemovesWhatDeadWritersLeftAndNothingElse) {
  const TempFolder folder;
  const auto root = posixFileSystem().openRoot(folder.path(), false).value();
  const std::string left[] = {"b.0123456789abcdef.tmp", "c.0123456789abcdef.tmp", "b.0123.tmp",
                              "b.0123456789abcdeX.tmp", "b.x.0123456789abcdef.tmp"};
  for (const std::string& name : left) {
    writeBytes(folder / name, "half of someth");
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  writeBytes(folder / "b.fedcba9876543210.tmp", "of one that is at it");
  ASSERT_TRUE(writeDurably(*root, "b", "whole"));
  EXPECT_EQ(readBytes(folder / "b"), "whole");
  EXPECT_FALSE(fs::exists(folder / left[0]));
  for (std::size_t i = 1; i < std::size(left); ++i) EXPECT_TRUE(fs::exists(folder / left[i])) << left[i];
  EXPECT_TRUE(fs::exists(folder / "b.fedcba9876543210.tmp"));
}

TEST(WriteDurably, OfManyAtOnceEachIsWholeAndNoneFails) {
  const TempFolder folder;
  std::atomic<int> failed = 0;
  std::atomic<int> mixed = 0;
  const auto write = [&](char c) {
    const auto root = posixFileSystem().openRoot(folder.path(), false).value();
    for (std::size_t round = 1; round <= 40; ++round) {
      if (!writeDurably(*root, "b", std::string(round * 3'000, c))) ++failed;
      const std::string found = readBytes(folder / "b");
      if (found.empty() || found.size() % 3'000 != 0 || found.find_first_not_of(found[0]) != std::string::npos) ++mixed;
    }
  };
  {
    std::vector<std::jthread> writers;
    for (const char c : {'x', 'y', 'z', 'w'}) writers.emplace_back(write, c);
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(mixed, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(WriteDurably, HasRoomForTheLongestName) {
  const TempFolder folder;
  const auto root = posixFileSystem().openRoot(folder.path(), false).value();
  std::string name(1, 'x');
  while (name.size() < 254) name += "é";
  ASSERT_TRUE(writeDurably(*root, name, "whole"));
  EXPECT_EQ(readBytes(folder / name), "whole");
  const std::string temporary = temporaryName(name, 1);
  EXPECT_TRUE(isUtf8(temporary));
  EXPECT_TRUE(isTemporaryOf(temporary, name));
  EXPECT_EQ(temporaryName(std::string(300, 'p') + "/n", 1), std::string(300, 'p') + "/n.0000000000000001.tmp");
}

TEST(WriteDurably, ReportsEveryFailureAndLeavesNoHalf) {
  // Calls: openroot, create, write, sync, rename, list old files, sync the folder.
  for (const std::uint64_t call : {2U, 3U, 4U, 5U, 7U}) {
    SimFileSystem sim;
    sim.put("/store/b", "old");
    auto root = sim.openRoot("/store", false).value();
    sim.failOperation(call, EIO);
    const auto written = writeDurably(*root, "b", "new");
    ASSERT_FALSE(written) << sim.callName(call);
    EXPECT_EQ(written.error().code, ErrorCode::Io);
    EXPECT_TRUE(written.error().message.contains("/store/b")) << written.error().message;
    EXPECT_EQ(sim.contents("/store/b"), call < 7 ? "old" : "new") << sim.callName(call);
    EXPECT_EQ(sim.names("/store"), std::vector<std::string>{"b"}) << sim.callName(call);
  }
}

TEST(SystemErrors, SayWhatTheCallerCanDo) {
  const std::pair<int, ErrorCode> cases[] = {
      {ENOENT, ErrorCode::NotFound}, {EEXIST, ErrorCode::AlreadyExists}, {EROFS, ErrorCode::ReadOnly},
      {EACCES, ErrorCode::ReadOnly}, {EPERM, ErrorCode::ReadOnly},       {ENOSPC, ErrorCode::NoSpace},
      {EDQUOT, ErrorCode::NoSpace},  {ELOOP, ErrorCode::Damaged},        {EISDIR, ErrorCode::Damaged},
      {ENOTDIR, ErrorCode::Damaged}, {EINTR, ErrorCode::Busy},           {EAGAIN, ErrorCode::Busy},
      {EIO, ErrorCode::Io},          {ENXIO, ErrorCode::Damaged},        {EMFILE, ErrorCode::Io},
      {ENFILE, ErrorCode::Io}};
  for (const auto& [number, code] : cases) {
    const Error error = systemError(number, "append to", "/store/a.jsonl");
    EXPECT_EQ(error.code, code) << number;
    EXPECT_TRUE(error.message.starts_with("cannot append to /store/a.jsonl: ")) << error.message;
    const bool passes = number == EMFILE || number == ENFILE;
    EXPECT_EQ(error.retryable, passes || code == ErrorCode::NoSpace || code == ErrorCode::Busy) << number;
    EXPECT_EQ(error.hint.contains("ulimit -n"), passes) << error.hint;
  }
}

}  // namespace
}  // namespace bough
