// Sessions that somebody removes while they are copied or synced.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/counting_backend.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// Two folders that have the same session and fork, to which each has added. One of them can be disturbed.
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
  // Removes the fork before the call of that number.
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
    // What was removed after it had been compared may be gone.
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
    EXPECT_EQ(copied.error().code, ErrorCode::NotFound) << copied.error().message;
  }
}

}  // namespace
}  // namespace bough
