#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/system/file_io.h"
#include "support/not_root.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

mode_t modeOf(const std::string& path) {
  struct stat s{};
  EXPECT_EQ(::lstat(path.c_str(), &s), 0) << path;
  return s.st_mode & 07777;
}

class PosixFiles : public testing::Test {
 protected:
  TempFolder temp_;
  std::unique_ptr<Directory> root_ = posixFileSystem().openRoot(temp_.path().string(), false).value();
};

TEST_F(PosixFiles, AFolderThatMayNotBeMadeIsNotAMissingOne) {
  fs::create_directory(temp_ / "closed");
  const NotRoot notRoot(temp_.path());
  fs::permissions(temp_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  const auto made = posixFileSystem().openRoot(temp_ / "closed/deep/store", true);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), EACCES);
  const auto opened = posixFileSystem().openRoot(temp_ / "closed/deep/store", false);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), ENOENT);
  EXPECT_TRUE(posixFileSystem().openRoot(temp_ / "closed", true)) << "it is there, though nothing can be made in it";
}

TEST_F(PosixFiles, BelongToTheirOwnerAlone) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(root_->open("new", OpenMode::CreateNew));
  ASSERT_TRUE(root_->open("either", OpenMode::OpenOrCreate));
  ASSERT_TRUE(root_->openDirectory("folder", true));
  ASSERT_TRUE(posixFileSystem().openRoot(temp_ / "deep/er/store", true));
  ASSERT_TRUE(writeDurably(*root_, "durable", "x"));
  ::umask(before);
  EXPECT_EQ(modeOf(temp_ / "new"), 0600U);
  EXPECT_EQ(modeOf(temp_ / "either"), 0600U);
  EXPECT_EQ(modeOf(temp_ / "durable"), 0600U);
  EXPECT_EQ(modeOf(temp_ / "folder"), 0700U);
  EXPECT_EQ(modeOf(temp_ / "deep"), 0700U);
  EXPECT_EQ(modeOf(temp_ / "deep/er"), 0700U);
  EXPECT_EQ(modeOf(temp_ / "deep/er/store"), 0700U);
}

TEST_F(PosixFiles, AreNotReachedThroughLinks) {
  std::ofstream(temp_ / "target") << "secret";
  fs::create_symlink("target", temp_ / "link");
  fs::create_symlink("nowhere", temp_ / "dangling");
  for (const OpenMode mode : {OpenMode::Read, OpenMode::ReadWrite, OpenMode::OpenOrCreate}) {
    EXPECT_EQ(root_->open("link", mode).error(), ELOOP);
    EXPECT_EQ(root_->open("dangling", mode).error(), ELOOP);
  }
  EXPECT_EQ(root_->open("dangling", OpenMode::CreateNew).error(), EEXIST);
  EXPECT_FALSE(fs::exists(temp_ / "nowhere"));
  EXPECT_FALSE(root_->info("link")->isRegular);
  EXPECT_FALSE(root_->info("link")->isDirectory);
}

TEST_F(PosixFiles, FoldersAreNotReachedThroughLinks) {
  fs::create_directory(temp_ / "target");
  fs::create_symlink("target", temp_ / "link");
  EXPECT_EQ(root_->openDirectory("link", false).error(), ENOTDIR);
  EXPECT_EQ(root_->openDirectory("link", true).error(), ENOTDIR);
}

TEST_F(PosixFiles, ReplaceALinkInsteadOfWritingThroughIt) {
  std::ofstream(temp_ / "target") << "untouched";
  fs::create_symlink("target", temp_ / "name");
  ASSERT_TRUE(writeDurably(*root_, "name", "mine"));
  EXPECT_EQ(readWhole(*root_->open("target", OpenMode::Read).value(), 100), "untouched");
  EXPECT_EQ(readWhole(*root_->open("name", OpenMode::Read).value(), 100), "mine");
}

TEST_F(PosixFiles, MayHaveARootThatIsALink) {
  fs::create_directory(temp_ / "target");
  fs::create_symlink("target", temp_ / "link");
  auto linked = posixFileSystem().openRoot(temp_ / "link", false).value();
  ASSERT_TRUE(linked->open("a", OpenMode::CreateNew));
  EXPECT_TRUE(fs::exists(temp_ / "target/a"));
  EXPECT_TRUE(posixFileSystem().openRoot(temp_ / "link/below", true));
}

TEST_F(PosixFiles, ThatAreNoRegularFilesAreRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo((temp_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(root_->open("pipe", OpenMode::Read).error(), ENXIO);
  EXPECT_EQ(root_->open("pipe", OpenMode::ReadWrite).error(), ENXIO);
}

TEST_F(PosixFiles, RootsAreMadeWithTheirParents) {
  const std::string path = temp_ / "x/y/z";
  EXPECT_EQ(posixFileSystem().openRoot(path, false).error(), ENOENT);
  auto made = posixFileSystem().openRoot(path, true);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->path(), path);
  EXPECT_TRUE(posixFileSystem().openRoot(path, true));
  EXPECT_TRUE(posixFileSystem().openRoot(temp_ / "x//trailing/", true));
  EXPECT_TRUE(fs::is_directory(temp_ / "x/trailing"));
  EXPECT_EQ(posixFileSystem().openRoot("", true).error(), ENOENT);
}

TEST_F(PosixFiles, RootsBelowAFileAreRefused) {
  std::ofstream(temp_ / "file") << "x";
  EXPECT_EQ(posixFileSystem().openRoot(temp_ / "file", true).error(), ENOTDIR);
  EXPECT_EQ(posixFileSystem().openRoot(temp_ / "file/below", true).error(), ENOTDIR);
}

TEST_F(PosixFiles, RootsMayBeRelative) {
  const int before = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_EQ(::chdir(temp_.path().c_str()), 0);
  EXPECT_TRUE(posixFileSystem().openRoot("r/s", true));
  EXPECT_EQ(::fchdir(before), 0);
  ::close(before);
  EXPECT_TRUE(fs::is_directory(temp_ / "r/s"));
}

TEST_F(PosixFiles, FolderHandlesSurviveARenameOfTheFolder) {
  auto folder = root_->openDirectory("before", true).value();
  fs::rename(temp_ / "before", temp_ / "after");
  ASSERT_TRUE(writeDurably(*folder, "a", "x"));
  EXPECT_TRUE(fs::exists(temp_ / "after/a"));
}

TEST_F(PosixFiles, ListLeavesOutDotsAndMayBeCalledAgain) {
  ASSERT_TRUE(root_->open(".hidden", OpenMode::CreateNew));
  EXPECT_EQ(root_->list().value(), std::vector<std::string>{".hidden"});
  EXPECT_EQ(root_->list().value(), std::vector<std::string>{".hidden"});
}

TEST_F(PosixFiles, FoldersWithoutPermissionAreNotWritable) {
  auto folder = root_->openDirectory("sealed", true).value();
  const NotRoot notRoot(temp_.path());
  EXPECT_TRUE(folder->checkWritable());
  fs::permissions(temp_ / "sealed", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(folder->checkWritable().error(), EACCES);
  fs::permissions(temp_ / "sealed", fs::perms::owner_all);
}

TEST_F(PosixFiles, LocksOfTwoOpenFilesExcludeEachOther) {
  auto one = root_->open("a", OpenMode::CreateNew).value();
  auto two = root_->open("a", OpenMode::ReadWrite).value();
  ASSERT_TRUE(one->tryLock(LockKind::Exclusive));
  const auto locked = lockWithin(*two, LockKind::Shared, 5, "a");
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::Busy);
  one.reset();
  EXPECT_TRUE(lockWithin(*two, LockKind::Shared, 60'000, "a"));
}

}  // namespace
}  // namespace bough
