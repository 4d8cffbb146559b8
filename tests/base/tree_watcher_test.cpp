#include "base/system/tree_watcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

class TreeWatcherTest : public testing::Test {
 protected:
  TempFolder folder;
  std::unique_ptr<TreeWatcher> watcher = std::move(*TreeWatcher::make());

  [[nodiscard]] std::string in(const std::string& name) const { return folder.path().string() + "/" + name; }
  static void write(const std::string& path) { std::ofstream(path, std::ios::app) << "x"; }

  // Waits until this path has changed; returns false when nothing more happens.
  bool hasChanged(const std::string& path) {
    constexpr int kLongEnoughMs = 5'000;
    constexpr int kMostQuiet = 20;
    int quiet = 0;
    while (true) {
      const auto changed = watcher->wait(kLongEnoughMs, -1);
      if (!changed) return false;
      // A new folder is reported without files, so several waits may be needed.
      if (!changed->all && changed->paths.empty() && ++quiet > kMostQuiet) return false;
      if (changed->all || changed->paths.contains(path)) return true;
    }
  }
};

TEST_F(TreeWatcherTest, TellsOfFilesAtEveryDepthWithOneWatchAFolder) {
  fs::create_directories(in("a/b"));
  for (int i = 0; i < 100; ++i) write(in("a/b/f" + std::to_string(i)));
  watcher->add(folder.path().string());
  EXPECT_EQ(watcher->folderCount(), 3U);
  write(in("a/b/f7"));
  EXPECT_TRUE(hasChanged(in("a/b/f7")));
  write(in("new"));
  EXPECT_TRUE(hasChanged(in("new")));
}

TEST_F(TreeWatcherTest, TellsOfFilesInFoldersThatAreMadeOrMovedThere) {
  fs::create_directories(in("seen"));
  fs::create_directories(in("outside/deep"));
  write(in("outside/deep/file"));
  watcher->add(in("seen"));
  fs::create_directories(in("seen/x/y"));
  write(in("seen/x/y/file"));
  EXPECT_TRUE(hasChanged(in("seen/x/y/file")));
  fs::rename(in("outside"), in("seen/moved"));
  EXPECT_TRUE(hasChanged(in("seen/moved/deep/file")));
}

TEST_F(TreeWatcherTest, FollowsNoLink) {
  fs::create_directories(in("elsewhere"));
  fs::create_directories(in("seen"));
  fs::create_directory_symlink(in("elsewhere"), in("seen/link"));
  watcher->add(in("seen"));
  EXPECT_EQ(watcher->folderCount(), 1U);
}

TEST_F(TreeWatcherTest, WatchesTheNearestFolderAboveOneThatIsMadeLater) {
  watcher->add(in("later/deep"));
  EXPECT_EQ(watcher->folderCount(), 1U);
  fs::create_directories(in("later/deep"));
  write(in("later/deep/file"));
  EXPECT_TRUE(hasChanged(in("later/deep/file")));
  write(in("later/deep/file"));
  EXPECT_TRUE(hasChanged(in("later/deep/file")));
  // Removed and created again.
  fs::remove_all(in("later"));
  fs::create_directories(in("later/deep"));
  write(in("later/deep/again"));
  EXPECT_TRUE(hasChanged(in("later/deep/again")));
}

TEST_F(TreeWatcherTest, WatchesAFolderAgainAfterItOrOneAboveItWasMovedAway) {
  for (const std::string moved : {"home/agent/sessions", "home/agent", "home"}) {
    fs::create_directories(in("home/agent/sessions/p"));
    watcher->add(in("home/agent/sessions"));
    fs::rename(in(moved), in("away"));
    write(in("away") + "/../unrelated");
    fs::create_directories(in("home/agent/sessions/new"));
    write(in("home/agent/sessions/new/file"));
    EXPECT_TRUE(hasChanged(in("home/agent/sessions/new/file"))) << moved;
    fs::remove_all(in("home"));
    fs::remove_all(in("away"));
  }
}

TEST_F(TreeWatcherTest, AFolderThatWasRenamedHasItsNewName) {
  fs::create_directories(in("seen/old/deep"));
  watcher->add(in("seen"));
  fs::rename(in("seen/old"), in("seen/new"));
  write(in("seen/new/deep/file"));
  EXPECT_TRUE(hasChanged(in("seen/new/deep/file")));
  write(in("seen/new/deep/file"));
  EXPECT_TRUE(hasChanged(in("seen/new/deep/file")));
}

TEST_F(TreeWatcherTest, FilesBesideTheFolderAreNoChange) {
  watcher->add(in("later/deep"));
  write(in("beside"));
  const auto changed = watcher->wait(100, -1);
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->paths.empty());
  EXPECT_FALSE(changed->all);
}

}  // namespace
}  // namespace bough
