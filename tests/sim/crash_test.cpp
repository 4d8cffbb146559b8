#include <gtest/gtest.h>

#include <set>

#include "base/system/file_io.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

using sim::kPageBytes;
using sim::PageFate;
using Names = std::vector<std::string>;

constexpr CrashChoice kNothing{};
constexpr CrashChoice kEverything{.pages = PageFate::Kept, .newSizes = true, .newNames = true};

class SimCrash : public testing::Test {
 protected:
  CrashPoint now() { return {.operation = sim_.operationCount(), .bytes = {}}; }
  std::string after(const CrashChoice& choice, const std::string& path = "/store/a") {
    return sim_.powerLoss(now(), choice)->contents(path).value_or("(none)");
  }
  // Returns every content that the file may have after a power loss now.
  std::set<std::string> outcomes(const CrashOptions& options = {}) {
    std::set<std::string> result;
    sim_.forEachCrashAt(now(), options, [&](CrashImage& image) {
      result.insert(image.files->contents("/store/a").value_or("(none)"));
    });
    return result;
  }
  // Creates a synced file to start from.
  void start(std::string_view bytes) {
    sim_.put("/store/a", bytes);
    root_ = sim_.openRoot("/store", false).value();
    file_ = root_->open("a", OpenMode::ReadWrite).value();
  }

  SimFileSystem sim_;
  std::unique_ptr<Directory> root_;
  std::unique_ptr<File> file_;
};

TEST_F(SimCrash, LosesWhatWasNotSynced) {
  start("old");
  ASSERT_TRUE(file_->writeAt(3, " new"));
  EXPECT_EQ(after(kNothing), "old");
  EXPECT_EQ(after(kEverything), "old new");
  EXPECT_EQ(outcomes(), (std::set<std::string>{"old", "old new", std::string("old\0\0\0\0", 7)}));
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(outcomes(), std::set<std::string>{"old new"});
}

TEST_F(SimCrash, NeverHarmsSyncedBytesOfAPageThatIsAppendedTo) {
  start(std::string(100, 'o'));
  ASSERT_TRUE(file_->writeAt(100, std::string(1000, 'n')));
  for (const std::string& bytes : outcomes()) EXPECT_EQ(bytes.substr(0, 100), std::string(100, 'o'));
}

TEST_F(SimCrash, DecidesEachPageForItself) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, std::string(3 * kPageBytes, 'n')));
  const std::string kept(kPageBytes, 'n');
  const std::string zeros(kPageBytes, '\0');
  std::set<std::string> expected{""};
  for (const std::string& one : {kept, zeros}) {
    expected.insert(one);
    for (const std::string& two : {kept, zeros}) {
      expected.insert(one + two);
      for (const std::string& three : {kept, zeros}) expected.insert(one + two + three);
    }
  }
  EXPECT_EQ(outcomes(), expected);
}

TEST_F(SimCrash, KeepsOldBytesOfAnOverwrittenPageThatIsDropped) {
  start(std::string(2 * kPageBytes, 'o'));
  ASSERT_TRUE(file_->writeAt(0, std::string(2 * kPageBytes, 'n')));
  const std::string o(kPageBytes, 'o');
  const std::string n(kPageBytes, 'n');
  EXPECT_EQ(outcomes(), (std::set<std::string>{o + o, o + n, n + o, n + n}));
}

TEST_F(SimCrash, MayUndoATruncation) {
  start(std::string(1000, 'o'));
  ASSERT_TRUE(file_->truncate(10));
  EXPECT_EQ(outcomes(), (std::set<std::string>{std::string(1000, 'o'), std::string(10, 'o')}));
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(outcomes(), std::set<std::string>{std::string(10, 'o')});
}

TEST_F(SimCrash, FindsCutBytesAsTheyWereOrAsZerosButNotInAFileThatGrewBack) {
  start(std::string(600, 'o'));
  ASSERT_TRUE(file_->truncate(4));
  ASSERT_TRUE(file_->writeAt(4, "new"));
  const auto found = outcomes();
  EXPECT_TRUE(found.contains(std::string(600, 'o')));
  EXPECT_TRUE(found.contains("oooo"));
  EXPECT_TRUE(found.contains("oooonew"));
  EXPECT_TRUE(found.contains(std::string("oooo\0\0\0", 7)));
  EXPECT_FALSE(found.contains("ooooooo"));
  for (const std::string& bytes : found) EXPECT_TRUE(bytes.starts_with("oooo"));
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(outcomes(), std::set<std::string>{"oooonew"});
}

TEST_F(SimCrash, FindsZerosWhereASyncedFileWasCutAndGrewAgain) {
  start(std::string(3 * kPageBytes, 'o'));
  ASSERT_TRUE(file_->truncate(4));
  ASSERT_TRUE(file_->writeAt(3 * kPageBytes, "end"));
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(outcomes(), std::set<std::string>{"oooo" + std::string(3 * kPageBytes - 4, '\0') + "end"});
}

TEST_F(SimCrash, ForgetsPagesThatWereCutOff) {
  start(std::string(2 * kPageBytes, 'o'));
  ASSERT_TRUE(file_->writeAt(kPageBytes, std::string(kPageBytes, 'n')));
  ASSERT_TRUE(file_->truncate(4));
  ASSERT_TRUE(file_->truncate(2 * kPageBytes));
  EXPECT_EQ(outcomes(),
            (std::set<std::string>{std::string(2 * kPageBytes, 'o'), "oooo", "oooo" + std::string(kPageBytes - 4, '\0'),
                                   "oooo" + std::string(2 * kPageBytes - 4, '\0')}));
}

TEST_F(SimCrash, SyncOfAFileDoesNotSaveItsName) {
  start("");
  auto file = root_->open("b", OpenMode::CreateNew).value();
  ASSERT_TRUE(file->writeAt(0, "bytes"));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(after(kNothing, "/store/b"), "(none)");
  ASSERT_TRUE(root_->sync());
  EXPECT_EQ(after(kNothing, "/store/b"), "bytes");
}

TEST_F(SimCrash, SyncOfAFolderDoesNotSaveItsFiles) {
  start("");
  auto file = root_->open("b", OpenMode::CreateNew).value();
  ASSERT_TRUE(file->writeAt(0, "bytes"));
  ASSERT_TRUE(root_->sync());
  EXPECT_EQ(after(kNothing, "/store/b"), "");
}

TEST_F(SimCrash, KeepsChangesOfAFolderInOrder) {
  start("a");
  ASSERT_TRUE(root_->open("b", OpenMode::CreateNew));
  ASSERT_TRUE(root_->link("a", "c"));
  ASSERT_TRUE(root_->rename("b", "d"));
  ASSERT_TRUE(root_->remove("a"));
  std::set<Names> found;
  sim_.forEachCrashAt(now(), {}, [&](CrashImage& image) { found.insert(image.files->names("/store")); });
  EXPECT_EQ(found, (std::set<Names>{{"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "c", "d"}, {"c", "d"}}));
}

TEST_F(SimCrash, BringsBackARemovedFileWithItsBytes) {
  start("precious");
  ASSERT_TRUE(root_->remove("a"));
  EXPECT_EQ(after(kNothing), "precious");
  EXPECT_EQ(after(kEverything), "(none)");
}

TEST_F(SimCrash, BringsBackARemovedFileWithoutWhatWasNotSynced) {
  start("old");
  ASSERT_TRUE(file_->writeAt(3, " new"));
  ASSERT_TRUE(root_->remove("a"));
  EXPECT_EQ(after(kNothing), "old");
  EXPECT_EQ(outcomes(), (std::set<std::string>{"(none)", "old", "old new", std::string("old\0\0\0\0", 7)}));
}

TEST_F(SimCrash, FindsAFolderOnlyOnceItsParentIsSynced) {
  start("");
  auto folder = root_->openDirectory("sessions", true).value();
  ASSERT_TRUE(writeDurably(*folder, "s", "bytes"));
  EXPECT_EQ(after(kNothing, "/store/sessions/s"), "(none)");
  ASSERT_TRUE(root_->sync());
  EXPECT_EQ(after(kNothing, "/store/sessions/s"), "bytes");
}

TEST_F(SimCrash, StopsInsideAWrite) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, "abcdef"));
  const CrashPoint point{.operation = sim_.operationCount(), .bytes = 2};
  EXPECT_EQ(point.completed(), sim_.operationCount() - 1);
  EXPECT_EQ(sim_.powerLoss(point, kEverything)->contents("/store/a"), "ab");
  EXPECT_EQ(sim_.processCrash(point)->contents("/store/a"), "ab");

  std::set<std::string> found;
  sim_.forEachCrash({.firstOperation = sim_.operationCount(), .writeStepBytes = 1},
                    [&](CrashImage& image) { found.insert(image.files->contents("/store/a").value()); });
  for (const char* prefix : {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"}) EXPECT_TRUE(found.contains(prefix));
}

TEST_F(SimCrash, VisitsEveryPointFromTheFirstOn) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, "1"));
  ASSERT_TRUE(file_->sync());
  std::set<std::uint64_t> points;
  sim_.forEachCrash({}, [&](CrashImage& image) { points.insert(image.point.operation); });
  EXPECT_EQ(points.size(), sim_.operationCount() + 1);
  points.clear();
  sim_.forEachCrash({.firstOperation = 3}, [&](CrashImage& image) { points.insert(image.point.operation); });
  EXPECT_EQ(*points.begin(), 3U);
}

TEST_F(SimCrash, ShowsEachDifferentImageOnceAndTheExtremesFirst) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, std::string(6 * kPageBytes, 'n')));
  std::vector<std::string> found;
  sim_.forEachCrashAt(now(), {},
                      [&](CrashImage& image) { found.push_back(image.files->contents("/store/a").value()); });
  EXPECT_EQ(found.size(), std::set(found.begin(), found.end()).size());
  EXPECT_EQ(found.size(), 127U);
  EXPECT_EQ(found[0], "");
  EXPECT_EQ(found[1], std::string(6 * kPageBytes, 'n'));
}

TEST_F(SimCrash, SamplesManyPagesTheSameWayForTheSameSeed) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, std::string(300 * kPageBytes, 'n')));
  const auto one = outcomes({.samples = 20, .seed = 3});
  EXPECT_GT(one.size(), 15U);
  EXPECT_LE(one.size(), 22U);
  EXPECT_EQ(one, outcomes({.samples = 20, .seed = 3}));
  EXPECT_NE(one, outcomes({.samples = 20, .seed = 4}));
}

TEST_F(SimCrash, SaysWhatItLeft) {
  start("");
  ASSERT_TRUE(file_->writeAt(0, std::string(700, 'n')));
  bool found = false;
  sim_.forEachCrashAt(now(), {}, [&](CrashImage& image) {
    found = found || image.description.ends_with("(write a 0+700); /store/a 700 bytes 0:kept 1:zeroed") ||
            image.description.ends_with("(write a 0+700); /store/a 700 bytes 0:kept 1:dropped");
  });
  EXPECT_TRUE(found);
}

TEST_F(SimCrash, OfTheProcessKeepsEverythingButSyncsNothing) {
  start("old");
  ASSERT_TRUE(file_->tryLock(LockKind::Exclusive));
  ASSERT_TRUE(file_->writeAt(3, " new"));
  ASSERT_TRUE(root_->open("b", OpenMode::CreateNew));
  auto survivor = sim_.processCrash();
  EXPECT_EQ(survivor->contents("/store/a"), "old new");
  EXPECT_EQ(survivor->names("/store"), (Names{"a", "b"}));
  auto root = survivor->openRoot("/store", false).value();
  EXPECT_TRUE(root->open("a", OpenMode::ReadWrite).value()->tryLock(LockKind::Exclusive));
  auto later = survivor->powerLoss({.operation = survivor->operationCount(), .bytes = {}}, kNothing);
  EXPECT_EQ(later->contents("/store/a"), "old");
  EXPECT_EQ(later->names("/store"), Names{"a"});
}

TEST_F(SimCrash, ImagesAreDisksOfTheirOwn) {
  start("old");
  const FileIdentity identity = file_->info()->identity;
  ASSERT_TRUE(file_->writeAt(3, " new"));
  auto image = sim_.powerLoss(now(), kEverything);
  auto root = image->openRoot("/store", false).value();
  auto file = root->open("a", OpenMode::ReadWrite).value();
  EXPECT_EQ(file->info()->identity, identity);
  ASSERT_TRUE(file->writeAt(0, "OLD"));
  EXPECT_EQ(sim_.contents("/store/a"), "old new");
  EXPECT_EQ(image->powerLoss({}, kNothing)->contents("/store/a"), "old new");
  EXPECT_EQ(image->operationCount(), 1U);
}

}  // namespace
}  // namespace bough
