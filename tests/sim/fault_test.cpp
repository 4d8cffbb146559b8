#include <gtest/gtest.h>

#include <cerrno>

#include "base/system/file_io.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

using sim::PageFate;

class SimFaults : public testing::Test {
 protected:
  std::uint64_t nextCall() { return sim_.callCount() + 1; }
  CrashPoint now() { return {.operation = sim_.operationCount(), .bytes = {}}; }
  // Returns the content of the file after a power loss now, when as much as possible was written before.
  std::string atBest() {
    const CrashChoice choice{.pages = PageFate::Kept, .newSizes = true, .newNames = true};
    return sim_.powerLoss(now(), choice)->contents("/store/a").value_or("(none)");
  }

  SimFileSystem sim_;
  std::unique_ptr<Directory> root_ = sim_.openRoot("/store", true).value();
  std::unique_ptr<File> file_ = root_->open("a", OpenMode::CreateNew).value();
};

TEST_F(SimFaults, FailOneCallOnce) {
  sim_.clearTrace();
  sim_.failOperation(nextCall() + 1, EIO);
  EXPECT_TRUE(file_->writeAt(0, "a"));
  EXPECT_EQ(file_->writeAt(1, "b").error(), EIO);
  EXPECT_TRUE(file_->writeAt(1, "c"));
  EXPECT_EQ(sim_.contents("/store/a"), "ac");
  EXPECT_EQ(sim_.trace(), "write a 0+1\nwrite a 1+1 -> EIO\nwrite a 1+1\n");
}

TEST_F(SimFaults, FailEverythingOnceTheDiskIsGone) {
  sim_.failOperation(nextCall(), ENXIO, FaultReach::Forever);
  char buffer[4];
  EXPECT_EQ(file_->readAt(0, buffer).error(), ENXIO);
  EXPECT_EQ(file_->info().error(), ENXIO);
  EXPECT_EQ(root_->list().error(), ENXIO);
  EXPECT_EQ(root_->open("b", OpenMode::CreateNew).error(), ENXIO);
  EXPECT_EQ(sim_.openRoot("/store", false).error(), ENXIO);
  sim_.clearFaults();
  EXPECT_TRUE(root_->list());
  EXPECT_FALSE(sim_.contents("/store/b"));
}

TEST_F(SimFaults, ReachEveryKindOfCall) {
  const auto fails = [&](const auto& call) {
    sim_.failOperation(nextCall(), EIO);
    const auto result = call();
    return !result && result.error() == EIO;
  };
  char buffer[4];
  EXPECT_TRUE(fails([&] { return file_->info(); }));
  EXPECT_TRUE(fails([&] { return file_->readAt(0, buffer); }));
  EXPECT_TRUE(fails([&] { return file_->writeAt(0, "x"); }));
  EXPECT_TRUE(fails([&] { return file_->sync(); }));
  EXPECT_TRUE(fails([&] { return file_->truncate(0); }));
  EXPECT_TRUE(fails([&] { return file_->tryLock(LockKind::Shared); }));
  EXPECT_TRUE(fails([&] { return file_->unlock(); }));
  EXPECT_TRUE(fails([&] { return root_->open("a", OpenMode::Read); }));
  EXPECT_TRUE(fails([&] { return root_->openDirectory("d", true); }));
  EXPECT_TRUE(fails([&] { return root_->info("a"); }));
  EXPECT_TRUE(fails([&] { return root_->list(); }));
  EXPECT_TRUE(fails([&] { return root_->rename("a", "b"); }));
  EXPECT_TRUE(fails([&] { return root_->link("a", "b"); }));
  EXPECT_TRUE(fails([&] { return root_->remove("a"); }));
  EXPECT_TRUE(fails([&] { return root_->sync(); }));
  EXPECT_TRUE(fails([&] { return root_->checkWritable(); }));
  EXPECT_TRUE(fails([&] { return sim_.openRoot("/new", true); }));
  EXPECT_EQ(sim_.names("/store"), std::vector<std::string>{"a"});
  EXPECT_EQ(sim_.names("/"), std::vector<std::string>{"store"});
}

TEST_F(SimFaults, ShortWritesTakeAPart) {
  sim_.clearTrace();
  sim_.shortWrite(nextCall(), 3);
  EXPECT_EQ(file_->writeAt(0, "abcdef").value(), 3U);
  EXPECT_EQ(sim_.contents("/store/a"), "abc");
  EXPECT_EQ(sim_.trace(), "write a 0+6 -> 3\n");
}

TEST_F(SimFaults, ShortReadsGiveAPart) {
  ASSERT_TRUE(file_->writeAt(0, "abcdef"));
  sim_.shortRead(nextCall(), 2);
  char buffer[6];
  EXPECT_EQ(file_->readAt(1, buffer).value(), 2U);
  EXPECT_EQ(file_->readAt(1, buffer).value(), 5U);
}

TEST_F(SimFaults, AFailedSyncLosesThePagesForGood) {
  ASSERT_TRUE(root_->sync());
  ASSERT_TRUE(file_->writeAt(0, "lost"));
  sim_.failSync();
  EXPECT_EQ(file_->sync().error(), EIO);
  EXPECT_EQ(sim_.contents("/store/a"), "lost");
  EXPECT_EQ(atBest(), std::string(4, '\0'));
  // The next sync succeeds although the page never reaches the disk; this is why a failed sync must not be retried.
  EXPECT_TRUE(file_->sync());
  EXPECT_EQ(atBest(), std::string(4, '\0'));
  EXPECT_EQ(sim_.contents("/store/a"), "lost");
}

TEST_F(SimFaults, ALostPageIsSavedByWritingItAgain) {
  ASSERT_TRUE(root_->sync());
  ASSERT_TRUE(file_->writeAt(0, std::string(600, 'x')));
  sim_.failSync();
  ASSERT_FALSE(file_->sync());
  ASSERT_TRUE(file_->writeAt(0, "again"));
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(atBest(), "again" + std::string(507, 'x') + std::string(88, '\0'));
}

TEST_F(SimFaults, AnInterruptedSyncLosesNothing) {
  ASSERT_TRUE(root_->sync());
  ASSERT_TRUE(file_->writeAt(0, "kept"));
  sim_.failOperation(nextCall(), EINTR);
  ASSERT_EQ(file_->sync().error(), EINTR);
  EXPECT_EQ(atBest(), "kept");
}

TEST_F(SimFaults, FailSyncCountsSyncsOfFiles) {
  sim_.failSync(2);
  EXPECT_TRUE(file_->sync());
  EXPECT_TRUE(root_->sync());
  EXPECT_EQ(file_->sync().error(), EIO);
  EXPECT_TRUE(file_->sync());
}

TEST_F(SimFaults, AFullDiskTakesAPartThenNothing) {
  sim_.limitSpace(10);
  EXPECT_EQ(file_->writeAt(0, "12345678").value(), 8U);
  EXPECT_EQ(file_->writeAt(8, "abcdef").value(), 2U);
  EXPECT_EQ(file_->writeAt(10, "x").error(), ENOSPC);
  EXPECT_EQ(file_->writeAt(0, "overwrite!").value(), 10U);
  EXPECT_EQ(sim_.contents("/store/a"), "overwrite!");
}

TEST_F(SimFaults, SpaceComesBackWithWhatIsCutOffOrRemoved) {
  sim_.limitSpace(10);
  ASSERT_TRUE(writeFully(*file_, 0, "1234567890"));
  ASSERT_TRUE(file_->truncate(6));
  EXPECT_EQ(file_->writeAt(6, "abcdef").value(), 4U);
  ASSERT_TRUE(root_->link("a", "b"));
  ASSERT_TRUE(root_->remove("a"));
  auto other = root_->open("c", OpenMode::CreateNew).value();
  EXPECT_EQ(other->writeAt(0, "x").error(), ENOSPC);
  ASSERT_TRUE(root_->remove("b"));
  EXPECT_EQ(other->writeAt(0, "x").value(), 1U);
}

}  // namespace
}  // namespace bough
