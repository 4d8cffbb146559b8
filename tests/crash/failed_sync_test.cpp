// Errors of the disk at the worst moment: a failed sync, a full disk in the middle of a batch, and a failed read while
// a process catches up with another.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "crash/ledger.h"

namespace bough {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class FailedSync : public testing::Test {
 protected:
  void SetUp() override {
    World world(files_);
    ASSERT_TRUE(ledger_.create(world, "a"));
    ASSERT_TRUE(ledger_.append(world, "a", {message("one"), message("two", 900)}));
  }

  SimFileSystem files_;
  Ledger ledger_;
};

TEST_F(FailedSync, PoisonsTheSessionUntilItIsOpenedAgain) {
  {
    World world(files_, {}, 2);
    ASSERT_TRUE(ledger_.append(world, "a", {message("three")}));
    files_.failSync();
    const auto lost = ledger_.append(world, "a", {message("lost")});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::Poisoned);
    files_.clearTrace();
    for (int i = 0; i < 3; ++i) {
      const auto refused = world->appendSessionEntries("a", {message("refused" + std::to_string(i))});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::Poisoned);
      EXPECT_FALSE(refused.error().retryable);
    }
    EXPECT_FALSE(world->repairSession("a"));
    EXPECT_EQ(count(files_.trace(), "sync sessions/a.jsonl"), 0U) << "a failed sync was tried again";
    EXPECT_TRUE(ledger_.holds(world)) << "reading goes on";
  }
  World world(files_, {}, 3);
  ASSERT_TRUE(ledger_.append(world, "a", {message("again")}));
  EXPECT_TRUE(ledger_.holds(world));
  auto image = powerLossNow(files_);
  World after(*image, {}, 4);
  EXPECT_TRUE(ledger_.holds(after));
}

TEST_F(FailedSync, OfWhatAnotherProcessWrotePoisonsToo) {
  World writer(files_, {}, 2);
  const std::uint64_t before = files_.operationCount();
  ASSERT_TRUE(ledger_.append(writer, "a", {message("three")}));
  auto died = files_.processCrash({.operation = before + 1, .bytes = {}});
  World world(*died, {}, 3);
  ASSERT_TRUE(world->loadSessionEntries("a"));
  died->failSync();
  const auto refused = world->appendSessionEntries("a", {message("four")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Poisoned);
  EXPECT_EQ(world->appendSessionEntries("a", {message("five")}).error().code, ErrorCode::Poisoned);
}

// Other processes may append before a batch is durable. They sync the batch first, so it stays, although its own writer
// got an error.
TEST_F(FailedSync, DoesNotTakeBackWhatAnotherHasContinued) {
  World ours(files_, {}, 2);
  ASSERT_TRUE(ledger_.append(ours, "a", {message("three")}));
  World theirs(files_, {}, 3);
  files_.beforeSync([&] {
    ASSERT_TRUE(theirs->appendSessionEntries("a", {message("behind")}));
    files_.failSync();
  });
  const auto unknown = ours->appendSessionEntries("a", {message("unknown")});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::Poisoned);
  auto image = powerLossNow(files_);
  for (SimFileSystem* files : {&files_, image.get()}) {
    World after(*files, {}, 4);
    const auto entries = after->loadSessionEntries("a");
    ASSERT_TRUE(entries);
    std::vector<std::string> ids;
    for (const Entry& entry : *entries) ids.push_back(entry.id);
    EXPECT_EQ((std::vector(ids.begin() + 1, ids.end())),
              (std::vector<std::string>{"one", "two", "three", "unknown", "behind"}));
    EXPECT_EQ(entries->back().parentId, "unknown");
    EXPECT_EQ(after->verifySession("a")->problemCount, 0U);
  }
}

// The same without another writer: a repeated append finds the batch, and syncs it.
TEST_F(FailedSync, LeavesABatchThatTheNextWriterMakesDurable) {
  {
    World world(files_, {}, 2);
    ASSERT_TRUE(ledger_.append(world, "a", {message("three")}));
    files_.failSync();
    ASSERT_FALSE(world->appendSessionEntries("a", {message("unknown", 5000)}));
  }
  World again(files_, {}, 3);
  const auto repeated = again->appendSessionEntries("a", {message("unknown", 5000)});
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(repeated->duplicateCount, 1U);
  auto image = powerLossNow(files_);
  World after(*image, {}, 4);
  EXPECT_TRUE(after->loadEntry("a", "unknown"));
  EXPECT_EQ(after->verifySession("a")->problemCount, 0U);
}

TEST_F(FailedSync, LeavesNothingOfABufferedBatchAcknowledged) {
  {
    World world(files_, {.bufferedMs = 1'000'000}, 2);
    files_.failSync(2);  // the first sync makes durable what was found
    EXPECT_FALSE(ledger_.appendBuffered(world, "a", {{message("b1")}, {message("b2")}}));
    EXPECT_TRUE(ledger_.holds(world));
  }
  World world(files_, {}, 3);
  ASSERT_TRUE(ledger_.append(world, "a", {message("again")}));
  EXPECT_TRUE(ledger_.holds(world));
}

TEST_F(FailedSync, IsNotHiddenByAFullDisk) {
  const std::string before = files_.contents("/store/sessions/a.jsonl").value();
  std::vector<Entry> batch;
  for (int i = 0; i < 20; ++i) batch.push_back(message("full" + std::to_string(i), 200));
  for (std::uint64_t space = 0; space < 5'000; space += 97) {
    SCOPED_TRACE(space);
    World world(files_, {}, 2);
    files_.limitSpace(space);
    const auto full = world->appendSessionEntries("a", batch);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::NoSpace);
    EXPECT_TRUE(full.error().retryable);
    EXPECT_EQ(files_.contents("/store/sessions/a.jsonl").value(), before) << "a part of the batch was left";
    files_.limitSpace({});
    EXPECT_TRUE(ledger_.holds(world));
  }
  World world(files_, {}, 3);
  ASSERT_TRUE(ledger_.append(world, "a", batch));
  EXPECT_TRUE(ledger_.holds(world));
}

// A process whose catch-up failed must not treat entries that it has not read as torn bytes.
TEST_F(FailedSync, OrReadWhileCatchingUpDoesNotTearWhatOthersWrote) {
  World ours(files_, {}, 2);
  ASSERT_TRUE(ledger_.append(ours, "a", {message("ours")}));
  for (std::uint64_t at = 1; at < 12; ++at) {
    SCOPED_TRACE(at);
    World theirs(files_, {}, 10 + at);
    ASSERT_TRUE(ledger_.append(theirs, "a", {message(fmt::format("theirs{}a", at)), message(fmt::format("t{}b", at))}));
    files_.failOperation(files_.callCount() + at, EIO);
    (void)ours->sessionState("a");
    files_.clearFaults();
    const auto appended = ledger_.append(ours, "a", {message(fmt::format("ours{}", at))});
    ASSERT_TRUE(appended) << appended.error().message;
    ASSERT_TRUE(ledger_.holds(ours));
    World fresh(files_, {}, 30 + at);
    ASSERT_TRUE(ledger_.holds(fresh));
    EXPECT_FALSE(files_.contents("/store/sessions/a.torn"));
  }
}

}  // namespace
}  // namespace bough
