// Compares the simulator with the operating system: every test here runs on both, so that they cannot diverge.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "base/system/file_io.h"
#include "support/sim_file_system.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

template <typename T>
int errorOf(const SysResult<T>& result) {
  return result ? 0 : result.error();
}

class FileSystemContract : public testing::TestWithParam<bool> {
 protected:
  FileSystemContract() {
    root_ = GetParam() ? sim_.openRoot("/a/store", true).value()
                       : posixFileSystem().openRoot(temp_ / "store", true).value();
  }

  std::unique_ptr<File> make(std::string_view name, std::string_view bytes = "") {
    auto file = root_->open(name, OpenMode::CreateNew).value();
    EXPECT_TRUE(writeFully(*file, 0, bytes));
    return file;
  }
  std::string read(std::string_view name) {
    return readWhole(*root_->open(name, OpenMode::Read).value(), 1 << 20).value();
  }
  std::vector<std::string> names() {
    auto names = root_->list().value();
    std::ranges::sort(names);
    return names;
  }

  using Names = std::vector<std::string>;
  TempFolder temp_;
  SimFileSystem sim_;
  std::unique_ptr<Directory> root_;
};

INSTANTIATE_TEST_SUITE_P(, FileSystemContract, testing::Bool(),
                         [](const auto& test) { return test.param ? "Simulated" : "Posix"; });

TEST_P(FileSystemContract, OpenModesCreateOrRefuse) {
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::Read)), ENOENT);
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::ReadWrite)), ENOENT);
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::OpenOrCreate)), 0);
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::OpenOrCreate)), 0);
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::CreateNew)), EEXIST);
  EXPECT_EQ(errorOf(root_->open("a", OpenMode::Read)), 0);
  EXPECT_EQ(errorOf(root_->open(std::string(256, 'x'), OpenMode::CreateNew)), ENAMETOOLONG);
}

TEST_P(FileSystemContract, FoldersAreNoFilesAndFilesNoFolders) {
  ASSERT_TRUE(root_->openDirectory("folder", true));
  make("file");
  EXPECT_EQ(errorOf(root_->open("folder", OpenMode::Read)), EISDIR);
  EXPECT_EQ(errorOf(root_->open("folder", OpenMode::ReadWrite)), EISDIR);
  EXPECT_EQ(errorOf(root_->open("folder", OpenMode::OpenOrCreate)), EISDIR);
  EXPECT_EQ(errorOf(root_->open("folder", OpenMode::CreateNew)), EEXIST);
  EXPECT_EQ(errorOf(root_->openDirectory("file", false)), ENOTDIR);
  EXPECT_EQ(errorOf(root_->openDirectory("file", true)), ENOTDIR);
  EXPECT_EQ(errorOf(root_->openDirectory("missing", false)), ENOENT);
  EXPECT_EQ(errorOf(root_->openDirectory("folder", true)), 0);
  EXPECT_EQ(errorOf(root_->remove("folder")), EISDIR);
  EXPECT_TRUE(root_->info("folder")->isDirectory);
  EXPECT_FALSE(root_->info("folder")->isRegular);
  EXPECT_TRUE(root_->info("file")->isRegular);
}

TEST_P(FileSystemContract, ReadsStopAtTheEnd) {
  auto file = make("a", "hello");
  std::string buffer(10, '?');
  EXPECT_EQ(file->readAt(0, buffer).value(), 5U);
  EXPECT_EQ(buffer, "hello?????");
  EXPECT_EQ(file->readAt(3, buffer).value(), 2U);
  EXPECT_EQ(file->readAt(5, buffer).value(), 0U);
  EXPECT_EQ(file->readAt(500, buffer).value(), 0U);
}

TEST_P(FileSystemContract, SparseBytesReadAsZeros) {
  auto file = make("a", "ab");
  EXPECT_TRUE(writeFully(*file, 1500, "z"));
  EXPECT_EQ(read("a"), "ab" + std::string(1498, '\0') + "z");
}

TEST_P(FileSystemContract, WhatWasCutOffGrowsBackAsZeros) {
  auto file = make("a", std::string(2000, 'x'));
  ASSERT_TRUE(file->truncate(3));
  EXPECT_EQ(file->info()->sizeBytes, 3U);
  ASSERT_TRUE(file->truncate(6));
  EXPECT_EQ(read("a"), std::string("xxx\0\0\0", 6));
}

TEST_P(FileSystemContract, FilesOpenedForReadingRefuseWrites) {
  make("a", "x");
  auto file = root_->open("a", OpenMode::Read).value();
  EXPECT_EQ(errorOf(file->writeAt(0, "y")), EBADF);
  EXPECT_EQ(errorOf(file->truncate(0)), EINVAL);
  EXPECT_EQ(read("a"), "x");
}

TEST_P(FileSystemContract, RenameReplacesAndKeepsTheIdentity) {
  auto old = make("a", "old");
  auto fresh = make("a.tmp", "new");
  const FileIdentity identity = fresh->info()->identity;
  EXPECT_NE(old->info()->identity, identity);
  ASSERT_TRUE(root_->rename("a.tmp", "a"));
  EXPECT_EQ(names(), Names{"a"});
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(root_->info("a")->identity, identity);
  EXPECT_EQ(fresh->info()->identity, identity);
  EXPECT_EQ(readWhole(*old, 100).value(), "old");
  EXPECT_EQ(errorOf(root_->rename("a.tmp", "a")), ENOENT);
}

TEST_P(FileSystemContract, RenameDoesNotMixFilesAndFolders) {
  make("file");
  auto full = root_->openDirectory("full", true).value();
  ASSERT_TRUE(full->open("x", OpenMode::CreateNew));
  ASSERT_TRUE(root_->openDirectory("empty", true));
  EXPECT_EQ(errorOf(root_->rename("file", "empty")), EISDIR);
  EXPECT_EQ(errorOf(root_->rename("empty", "file")), ENOTDIR);
  EXPECT_EQ(errorOf(root_->rename("empty", "full")), ENOTEMPTY);
  EXPECT_EQ(errorOf(root_->rename("full", "empty")), 0);
  EXPECT_EQ(names(), (Names{"empty", "file"}));
}

TEST_P(FileSystemContract, LinksAreTheSameFile) {
  auto file = make("a", "one");
  ASSERT_TRUE(root_->link("a", "b"));
  EXPECT_EQ(root_->info("a")->identity, root_->info("b")->identity);
  ASSERT_TRUE(writeFully(*file, 3, " two"));
  EXPECT_EQ(read("b"), "one two");
  EXPECT_EQ(errorOf(root_->link("a", "b")), EEXIST);
  EXPECT_EQ(errorOf(root_->link("missing", "c")), ENOENT);
  // POSIX: renaming a name of a file to another name of the same file does nothing.
  EXPECT_TRUE(root_->rename("a", "b"));
  EXPECT_EQ(names(), (Names{"a", "b"}));
  ASSERT_TRUE(root_->remove("a"));
  EXPECT_EQ(read("b"), "one two");
  ASSERT_TRUE(root_->openDirectory("folder", true));
  EXPECT_EQ(errorOf(root_->link("folder", "c")), EPERM);
}

TEST_P(FileSystemContract, RemovedFilesLiveOnWhileOpen) {
  auto file = make("a", "still");
  const FileIdentity identity = file->info()->identity;
  ASSERT_TRUE(root_->remove("a"));
  EXPECT_EQ(errorOf(root_->info("a")), ENOENT);
  EXPECT_EQ(errorOf(root_->remove("a")), ENOENT);
  ASSERT_TRUE(writeFully(*file, 5, " here"));
  EXPECT_EQ(readWhole(*file, 100).value(), "still here");
  make("a");
  EXPECT_NE(root_->info("a")->identity, identity);
}

TEST_P(FileSystemContract, LocksHoldBetweenOpenFiles) {
  make("a");
  auto one = root_->open("a", OpenMode::ReadWrite).value();
  auto two = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(one->tryLock(LockKind::Exclusive));
  EXPECT_TRUE(one->tryLock(LockKind::Exclusive));
  EXPECT_EQ(errorOf(two->tryLock(LockKind::Exclusive)), EWOULDBLOCK);
  EXPECT_EQ(errorOf(two->tryLock(LockKind::Shared)), EWOULDBLOCK);
  ASSERT_TRUE(one->unlock());
  EXPECT_TRUE(two->tryLock(LockKind::Shared));
  EXPECT_TRUE(one->tryLock(LockKind::Shared));
  EXPECT_EQ(errorOf(two->tryLock(LockKind::Exclusive)), EWOULDBLOCK);
}

TEST_P(FileSystemContract, AFailedConversionLosesTheSharedLock) {
  make("a");
  auto one = root_->open("a", OpenMode::ReadWrite).value();
  auto two = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(one->tryLock(LockKind::Shared));
  ASSERT_TRUE(two->tryLock(LockKind::Shared));
  EXPECT_EQ(errorOf(two->tryLock(LockKind::Exclusive)), EWOULDBLOCK);
  EXPECT_TRUE(one->tryLock(LockKind::Exclusive));
}

TEST_P(FileSystemContract, LocksEndWithTheOpenFile) {
  make("a");
  auto one = root_->open("a", OpenMode::ReadWrite).value();
  auto two = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(one->tryLock(LockKind::Exclusive));
  one.reset();
  EXPECT_TRUE(two->tryLock(LockKind::Exclusive));
}

TEST_P(FileSystemContract, LocksFollowTheFileNotTheName) {
  auto old = make("a");
  make("b");
  ASSERT_TRUE(old->tryLock(LockKind::Exclusive));
  ASSERT_TRUE(root_->rename("b", "a"));
  EXPECT_TRUE(root_->open("a", OpenMode::ReadWrite).value()->tryLock(LockKind::Exclusive));
}

TEST_P(FileSystemContract, SyncsAndChecksSucceed) {
  auto file = make("a", "x");
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(root_->sync());
  EXPECT_TRUE(root_->checkWritable());
}

TEST_P(FileSystemContract, RootsAreFoundAgain) {
  make("a", "kept");
  FileSystem& files = GetParam() ? static_cast<FileSystem&>(sim_) : posixFileSystem();
  auto again = files.openRoot(root_->path(), false).value();
  EXPECT_EQ(again->list().value(), Names{"a"});
  EXPECT_EQ(errorOf(files.openRoot(root_->path() + "/missing", false)), ENOENT);
  EXPECT_EQ(errorOf(files.openRoot(root_->path() + "/a", false)), ENOTDIR);
  EXPECT_EQ(errorOf(files.openRoot(root_->path() + "/a/below", true)), ENOTDIR);
  auto folder = again->openDirectory("sessions", true).value();
  EXPECT_EQ(folder->path(), root_->path() + "/sessions");
}

}  // namespace
}  // namespace bough
