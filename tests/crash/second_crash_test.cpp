// Consecutive crashes: a crash while torn bytes are set aside, and a power loss after one process died and another
// continued its writes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crash/ledger.h"
#include "crash/mixed_run.h"

namespace bough {
namespace {

constexpr StoreOptions kReading{.create = false};

// Returns true when all bytes after the last complete batch are still in the log or beside it.
bool tornBytesAreKept(const SimFileSystem& files, const std::string& torn) {
  const std::string log = files.contents("/store/sessions/a.jsonl").value_or("");
  const std::string aside = files.contents("/store/sessions/a.torn").value_or("");
  return log.ends_with(torn) || aside.find(torn) != std::string::npos;
}

// Recovers an image with a torn tail, and cuts the power again at every step of the recovery.
std::size_t crashDuringRecovery(const SimFileSystem& image, std::uint64_t tornBytes, const MixedRun& run) {
  Ledger ledger = run.ledger;
  auto files = powerLossNow(image);
  const std::string log = files->contents("/store/sessions/a.jsonl").value();
  const std::string torn = log.substr(log.size() - tornBytes);
  {
    World world(*files, run.options, 2);
    ledger.settleOn(world);
    EXPECT_TRUE(ledger.append(world, "a", {message("after1"), message("after2", 700)}));
  }
  std::size_t images = 0;
  files->forEachCrash({.writeStepBytes = 61, .exhaustivePages = 3, .samples = 4}, [&](CrashImage& second) {
    if (testing::Test::HasFailure()) return;
    ++images;
    SCOPED_TRACE(second.description);
    {
      World world(*second.files, kReading, 3);
      ASSERT_TRUE(ledger.holds(world, second.point.completed()));
    }
    EXPECT_TRUE(tornBytesAreKept(*second.files, torn));
    Ledger later = ledger;
    World world(*second.files, run.options, 4);
    later.settleOn(world);
    const auto appended = later.append(world, "a", {message("later")});
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_TRUE(later.holds(world));
  });
  return images;
}

TEST(SecondCrash, WhileTornBytesMoveAsideLosesNothing) {
  const MixedRun run = recordMixedRun(MixedRun::Size::Small);
  std::size_t recoveries = 0;
  std::size_t images = 0;
  std::uint64_t lastOperation = 0;
  run.files->forEachCrash({.writeStepBytes = 401, .exhaustivePages = 0, .samples = 3}, [&](CrashImage& image) {
    if (testing::Test::HasFailure() || image.point.operation == lastOperation) return;
    std::uint64_t torn = 0;
    {
      World world(*image.files, kReading);
      if (!world.isOpen()) return;
      const auto state = world->sessionState("a");
      torn = state ? state->trailingBytes : 0;
    }
    if (torn == 0) return;
    lastOperation = image.point.operation;  // one torn tail per write
    ++recoveries;
    SCOPED_TRACE(image.description);
    images += crashDuringRecovery(*image.files, torn, run);
  });
  EXPECT_GT(recoveries, 5U);
  EXPECT_GT(images, 300U);
}

// Another process continues after a process died: it appends after what it finds, and its acknowledgement covers all of
// that.
void goOn(World& world, Ledger& ledger, const StoreOptions& options) {
  ASSERT_TRUE(world.isOpen()) << world.error().message;
  ledger.settleOn(world);
  if (!ledger.sessions.contains("a")) {
    ASSERT_TRUE(ledger.create(world, "a"));
  }
  for (const auto& [id, session] : Ledger(ledger).sessions) {
    ASSERT_TRUE(ledger.append(world, id, {message("after-" + id)}));
    ASSERT_TRUE(ledger.append(world, id, {message("large", options.attachmentBytes * 6 / 5)}));
  }
}

TEST(SecondCrash, OfThePowerKeepsWhatAWriterBuiltUpon) {
  const MixedRun run = recordMixedRun(MixedRun::Size::Small);
  std::size_t crashes = 0;
  const auto crashAt = [&](const CrashPoint& point) {
    if (testing::Test::HasFailure()) return;
    ++crashes;
    SCOPED_TRACE(fmt::format("the process died after operation {} ({}), bytes {}", point.operation,
                             run.files->operationName(point.operation), point.bytes.value_or(0)));
    auto files = run.files->processCrash(point);
    Ledger ledger = run.ledger;
    {
      World world(*files, run.options, 2);
      goOn(world, ledger, run.options);
    }
    if (testing::Test::HasFailure()) return;
    files->forEachCrashAt({.operation = files->operationCount(), .bytes = {}}, {.exhaustivePages = 2, .samples = 8},
                          [&](CrashImage& image) {
                            if (testing::Test::HasFailure()) return;
                            SCOPED_TRACE(image.description);
                            World world(*image.files, kReading, 3);
                            EXPECT_TRUE(ledger.holds(world));
                          });
  };
  // The simulator makes the store's own folder durable with its second operation, because the interface has no call for
  // that.
  for (std::uint64_t operation = 2; operation <= run.files->operationCount(); ++operation) {
    crashAt({.operation = operation, .bytes = {}});
    if (run.files->operationName(operation).starts_with("write sessions/")) {
      for (const std::uint64_t bytes : {1U, 100U, 200U}) crashAt({.operation = operation, .bytes = bytes});
    }
  }
  EXPECT_GT(crashes, 60U);
}

// The reader's index describes a batch that was never synced. The index must not outlive the batch.
TEST(SecondCrash, OfThePowerDoesNotLeaveAnIndexOfWhatIsGone) {
  SimFileSystem files;
  Ledger ledger;
  {
    World writer(files, {.attachmentBytes = 1 << 20});
    ASSERT_TRUE(ledger.create(writer, "a"));
    ASSERT_TRUE(ledger.append(writer, "a", {message("first", 200'000)}));
    const std::uint64_t before = files.operationCount();
    std::vector<Entry> batch;
    for (int i = 0; i < 40; ++i) batch.push_back(message("batch" + std::to_string(i), 3000));
    ASSERT_TRUE(ledger.append(writer, "a", batch));
    ASSERT_TRUE(files.operationName(before + 1).starts_with("write sessions/a.jsonl"));
    ledger.sessions["a"].batches.back().ackedAt.reset();
    auto died = files.processCrash({.operation = before + 1, .bytes = {}});
    {
      World reader(*died, kReading, 2);
      ASSERT_TRUE(ledger.holds(reader));
    }
    ASSERT_TRUE(died->contents("/store/sessions/a.idx")) << "the reader made no index, so this shows nothing";
    std::size_t images = 0;
    died->forEachCrashAt({.operation = died->operationCount(), .bytes = {}}, {.samples = 120}, [&](CrashImage& image) {
      if (testing::Test::HasFailure()) return;
      ++images;
      SCOPED_TRACE(image.description.substr(0, 400));
      Ledger found = ledger;
      World world(*image.files, {.attachmentBytes = 1 << 20}, 3);
      const auto appended = found.append(world, "a", {message("after")});
      ASSERT_TRUE(appended) << appended.error().message;
      EXPECT_TRUE(found.holds(world));
      ASSERT_TRUE(world->repairSession("a"));
      EXPECT_TRUE(found.holds(world));
    });
    EXPECT_GT(images, 0U);
  }
}

}  // namespace
}  // namespace bough
