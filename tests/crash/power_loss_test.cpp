// The power fails at any operation and at any byte of any write, and unsynced pages are kept, lost or zeroed. The store
// then shows a prefix of the batches that includes every acknowledged one, and continues from there.

#include <gtest/gtest.h>

#include "crash/ledger.h"
#include "crash/mixed_run.h"

namespace bough {
namespace {

// Steps after a crash: the image is read without being changed, then appended to, then read again.
class AfterPowerLoss {
 public:
  explicit AfterPowerLoss(const MixedRun& run) : run_(run) {}

  void check(CrashImage& image) {
    if (testing::Test::HasFailure()) return;  // report only the first image that fails
    ++images_;
    SCOPED_TRACE(image.description);
    Ledger found = run_.ledger;
    if (!readingFindsAPrefix(image, found)) return;
    const auto before = filesBelow(*image.files, kStore);
    appendingGoesOn(image, found);
    nothingVanished(before, filesBelow(*image.files, kStore));
  }

  [[nodiscard]] std::size_t images() const { return images_; }
  [[nodiscard]] std::size_t tornImages() const { return tornImages_; }

 private:
  bool readingFindsAPrefix(CrashImage& image, Ledger& found) {
    StoreOptions options = run_.options;
    options.create = false;
    World world(*image.files, options);
    if (!world.isOpen()) {
      EXPECT_EQ(world.error().code, ErrorCode::NotFound) << world.error().message;
      for (const auto& [id, session] : found.sessions) EXPECT_GT(session.createdAt, image.point.completed());
      found.sessions.clear();
      return !testing::Test::HasFailure();
    }
    EXPECT_TRUE(found.holds(world, image.point.completed()));
    if (testing::Test::HasFailure()) return false;
    found.settleOn(world);
    torn_.clear();
    for (const auto& [id, session] : found.sessions) torn_[id] = world->sessionState(id)->trailingBytes;
    EXPECT_EQ(image.files->operationCount(), 0U) << "reading changed " << image.files->operationName(1);
    return true;
  }

  void appendingGoesOn(CrashImage& image, Ledger& found) {
    {
      World world(*image.files, run_.options, 2);
      ASSERT_TRUE(world.isOpen()) << world.error().message;
      if (!found.sessions.contains("a")) {
        ASSERT_TRUE(found.create(world, "a"));
      }
      for (auto& [id, session] : found.sessions) {
        const auto appended = found.append(world, id, {message("new1-" + id), message("new2-" + id)});
        ASSERT_TRUE(appended) << appended.error().message;
      }
      ASSERT_TRUE(found.holds(world));
    }
    World again(*image.files, run_.options, 3);
    ASSERT_TRUE(found.holds(again));
  }

  // Logs only grow. Torn bytes leave the log only for a file beside it.
  void nothingVanished(const std::map<std::string, std::string>& before,
                       const std::map<std::string, std::string>& after) {
    bool anyTorn = false;
    for (const auto& [path, bytes] : before) {
      if (!path.ends_with(".jsonl")) continue;
      const std::string id = path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 7);
      const std::string kept = bytes.substr(0, bytes.size() - torn_[id]);
      EXPECT_TRUE(after.at(path).starts_with(kept));
      if (torn_[id] == 0) continue;
      anyTorn = true;
      const auto aside = after.find(path.substr(0, path.size() - 6) + ".torn");
      ASSERT_TRUE(aside != after.end());
      EXPECT_NE(aside->second.find(bytes.substr(kept.size())), std::string::npos);
    }
    if (anyTorn) ++tornImages_;
  }

  const MixedRun& run_;
  std::map<std::string, std::uint64_t> torn_;
  std::size_t images_ = 0;
  std::size_t tornImages_ = 0;
};

TEST(PowerLoss, AtEveryByteOfEveryWriteLeavesAPrefix) {
  const MixedRun run = recordMixedRun(MixedRun::Size::Small);
  AfterPowerLoss after(run);
  run.files->forEachCrash({.writeStepBytes = 1, .exhaustivePages = 0, .samples = 1},
                          [&](CrashImage& image) { after.check(image); });
  EXPECT_GT(after.images(), 5'000U);
  EXPECT_GT(after.tornImages(), 1'000U);
  RecordProperty("images", static_cast<int>(after.images()));
}

TEST(PowerLoss, WithPagesLostInEveryOrderLeavesAPrefix) {
  const MixedRun run = recordMixedRun(MixedRun::Size::Small);
  AfterPowerLoss after(run);
  run.files->forEachCrash({.writeStepBytes = 256, .exhaustivePages = 7, .exhaustiveImages = 3000, .samples = 200},
                          [&](CrashImage& image) { after.check(image); });
  EXPECT_GT(after.images(), 1'000U);
  EXPECT_GT(after.tornImages(), 300U);
  RecordProperty("images", static_cast<int>(after.images()));
}

TEST(PowerLoss, InsideLargeBatchesLeavesAPrefix) {
  const MixedRun run = recordMixedRun(MixedRun::Size::Large);
  AfterPowerLoss after(run);
  run.files->forEachCrash({.writeStepBytes = 307, .exhaustivePages = 3, .samples = 6, .seed = 7},
                          [&](CrashImage& image) { after.check(image); });
  EXPECT_GT(after.tornImages(), 200U);
  RecordProperty("images", static_cast<int>(after.images()));
}

}  // namespace
}  // namespace bough
