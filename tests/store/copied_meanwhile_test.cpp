// Sessions that are removed, or whose attachments cannot be read, while they are copied or synced.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "store/copy/session_part.h"
#include "support/counting_backend.h"
#include "support/entries.h"
#include "support/failing_backend.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// Two folders with the same session and fork, each with its own additions. Calls of the first store can be disturbed.
class CopiedMeanwhile : public testing::Test {
 protected:
  void makeStores(const std::string& name) {
    backend_ = std::make_shared<CountingBackend>(must(makeFileBackend(folder_ / name)));
    disturbed_ = {.backend = backend_, .store = must(SessionStore::open({.backend = backend_, .options = {}}))};
    other_ = must(StoreSide::open(folder_ / name + "-other"));
    must(disturbed_.store->createSession({.sessionId = "s"}));
    must(disturbed_.store->appendSessionEntries("s", {message("x", "shared")}));
    must(disturbed_.store->branchFromEntry("s", "shared", {.sessionId = "f"}));
    must(disturbed_.store->appendSessionEntries("f", {message("x", "own")}));
    must(copySession(disturbed_, other_, "f"));
    backend_->takeCount();
  }
  // Removes the fork before the call with that number.
  void removeBefore(int call, const std::string& name) {
    somebody_ = must(SessionStore::open(folder_ / name));
    backend_->beforeCall = [this, call](int calls) {
      if (calls == call) must(somebody_->trashSession("f"));
    };
  }
  static std::vector<std::string> idsIn(StoreSide& side) {
    std::vector<std::string> ids = idsOf(must(side.store->loadSessionEntries("f")));
    std::ranges::sort(ids);
    return ids;
  }

  const TempFolder folder_;
  std::shared_ptr<CountingBackend> backend_;
  StoreSide disturbed_;
  StoreSide other_;
  std::unique_ptr<SessionStore> somebody_;
};

// Whatever the number of tries, each copied entry counts once, and removed sessions do not count.
TEST_F(CopiedMeanwhile, TheNumbersAreThoseOfAllTries) {
  for (const bool isSync : {true, false}) {
    bool over = false;
    for (int call = 0; !over; ++call) {
      SCOPED_TRACE(fmt::format("{} {}", isSync ? "sync" : "copy", call));
      const std::string name = fmt::format("numbers-{}-{}", isSync, call);
      makeStores(name);
      must(other_.store->appendSessionEntries("s", {message("x", "more")}));
      must(other_.store->appendSessionEntries("f", {message("x", "theirs")}));
      removeBefore(call, name);
      std::vector<std::uint64_t> got;
      if (isSync) {
        for (const SyncedSession& each : must(syncSession(disturbed_, other_, "f"))) got.push_back(each.toLeft);
      } else {
        for (const CopiedSession& each : must(copySession(other_, disturbed_, "f"))) {
          got.push_back(each.copiedEntries);
          const bool isNew = each.sessionId == "f" && each.copiedEntries == 2;
          EXPECT_EQ(each.presentEntries, isNew ? 1U : 2U) << each.sessionId;
        }
      }
      over = backend_->takeCount() <= call;
      backend_->beforeCall = {};
      ASSERT_EQ(got.size(), 2U);
      EXPECT_EQ(got[0], 1U);
      const bool isThere = disturbed_.store->sessionState("f").has_value();
      const bool cameBack = isThere && !must(disturbed_.store->listTrash()).empty();
      EXPECT_EQ(got[1], cameBack ? 2U : 1U);
    }
  }
}

TEST_F(CopiedMeanwhile, WhatIsInNoStoreIsLookedForOnce) {
  makeStores("none");
  ASSERT_FALSE(copying::lineageOf({&disturbed_}, "none"));
  const int once = backend_->takeCount();
  ASSERT_FALSE(copySession(disturbed_, other_, "none"));
  EXPECT_EQ(backend_->takeCount(), once);
  ASSERT_FALSE(syncSession(disturbed_, other_, "none"));
  EXPECT_EQ(backend_->takeCount(), once);
}

TEST_F(CopiedMeanwhile, AForkThatIsRemovedFromOneStoreDuringASyncComesBackFromTheOther) {
  bool over = false;
  for (int call = 0; !over; ++call) {
    SCOPED_TRACE(call);
    const std::string name = fmt::format("sync-{}", call);
    makeStores(name);
    must(other_.store->appendSessionEntries("f", {message("x", "theirs")}));
    removeBefore(call, name);
    must(syncSession(disturbed_, other_, "f"));
    over = backend_->takeCount() <= call;
    if (over) continue;
    backend_->beforeCall = {};
    EXPECT_EQ(idsIn(other_).size(), 4U);
    // A session that was removed after the comparison may be missing.
    if (disturbed_.store->sessionState("f")) {
      EXPECT_EQ(idsIn(disturbed_), idsIn(other_));
    }
  }
}

TEST_F(CopiedMeanwhile, AForkThatIsRemovedFromTheTargetOfACopyIsCopiedAgain) {
  bool over = false;
  for (int call = 0; !over; ++call) {
    SCOPED_TRACE(call);
    const std::string name = fmt::format("to-{}", call);
    makeStores(name);
    must(other_.store->appendSessionEntries("f", {message("x", "theirs")}));
    removeBefore(call, name);
    must(copySession(other_, disturbed_, "f"));
    over = backend_->takeCount() <= call;
    backend_->beforeCall = {};
    if (over) continue;
    EXPECT_EQ(idsIn(disturbed_), idsIn(other_));
  }
}

TEST_F(CopiedMeanwhile, AForkThatIsRemovedFromTheSourceOfACopyIsNotFound) {
  bool over = false;
  int failures = 0;
  for (int call = 0; !over; ++call) {
    SCOPED_TRACE(call);
    const std::string name = fmt::format("from-{}", call);
    makeStores(name);
    must(disturbed_.store->appendSessionEntries("f", {message("x", "more")}));
    backend_->takeCount();
    removeBefore(call, name);
    const auto copied = copySession(disturbed_, other_, "f");
    over = backend_->takeCount() <= call;
    if (copied) continue;
    ++failures;
    EXPECT_EQ(copied.error().code, ErrorCode::NotFound) << copied.error().message;
  }
  EXPECT_GT(failures, 0);
}

void loseAttachments(const std::filesystem::path& folder) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().filename().string().size() == 62) std::filesystem::remove(file.path());
  }
}

// A temporarily unreadable attachment must not be reported as lost, because the user would then erase its entry.
TEST(CopiedBack, AnAttachmentThatTheOtherStoreCannotReadNowIsNotToldAsLost) {
  const TempFolder folder;
  StoreSide left = must(StoreSide::open(folder / "left"));
  const auto backend = std::make_shared<FailingBackend>(must(makeFileBackend(folder / "right")));
  StoreSide right{.backend = backend, .store = must(SessionStore::open({.backend = backend, .options = {}}))};
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message(std::string(300'000, 'x'))}));
  ASSERT_TRUE(copySession(left, right, "s"));
  loseAttachments(folder / "left/attachments");
  backend->failAttachments(true);
  const auto part = copying::readPart(left, "s", 0, &right);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, ErrorCode::Io) << part.error().message;
  EXPECT_FALSE(part.error().hint.contains("erase")) << part.error().hint;
  backend->failAttachments(false);
  ASSERT_TRUE(copying::readPart(left, "s", 0, &right));
  EXPECT_EQ(left.store->verifySession("s")->problemCount, 0U);
}

// The first read returned only references, which are short.
TEST(CopiedBack, WhatComesBackDoesNotMakeAPartLarger) {
  const TempFolder folder;
  StoreSide left = must(StoreSide::open(folder / "left"));
  StoreSide right = must(StoreSide::open(folder / "right"));
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  for (char each = 'a'; each < 'm'; ++each) {
    ASSERT_TRUE(left.store->appendSessionEntries("s", {message(std::string(1'000'000, each))}));
  }
  ASSERT_TRUE(syncSession(left, right, "s"));
  loseAttachments(folder / "left/attachments");
  const auto part = copying::readPart(left, "s", 0, &right);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->size(), 10U);  // the header and the first entries, which reach 8 MB
  ASSERT_TRUE(syncSession(left, right, "s"));
  EXPECT_EQ(left.store->verifySession("s")->problemCount, 0U);
}

}  // namespace
}  // namespace bough
