// The store says what may have changed, and never leaves anything out.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "store_support.h"

namespace bough {
namespace {

class ChangesTest : public StoreTest {
 protected:
  bool mentions(const ChangeSet& changes, const std::string& id) {
    return changes.all || std::ranges::count(changes.groups, store->changeGroup(id)) > 0;
  }
  ChangeSet since(const std::string& token) { return must(store->changesSince(token)); }
};

TEST_F(ChangesTest, WithoutATokenEverythingMayHaveChanged) {
  EXPECT_TRUE(since("").all);
  EXPECT_TRUE(since("nonsense").all);
  EXPECT_TRUE(since(std::string(70'000, 'x')).all);
}

TEST_F(ChangesTest, NothingChangedUntilSomethingIs) {
  fill("a", 1);
  const std::string token = since("").token;
  EXPECT_TRUE(since(token).none());
  EXPECT_TRUE(since(token).none());
  must(store->loadSessionEntries("a"));
  EXPECT_TRUE(since(token).none());
}

TEST_F(ChangesTest, EveryWayOfChangingASessionIsNoted) {
  fill("a", 2);
  std::string token = since("").token;
  const auto changed = [&](bool names) {
    const ChangeSet changes = since(token);
    token = changes.token;
    return mentions(changes, "a") && changes.names == names;
  };
  must(store->appendSessionEntries("a", {message("x", "x")}));
  EXPECT_TRUE(changed(false));
  must(store->archiveSession("a"));
  EXPECT_TRUE(changed(false));
  must(store->repairSession("a"));
  EXPECT_TRUE(changed(false));
  const TrashedSession moved = must(store->trashSession("a"));
  EXPECT_TRUE(changed(true));
  must(store->restoreSession(moved.trashId));
  EXPECT_TRUE(changed(true));
  must(store->deleteSession("a"));
  EXPECT_TRUE(changed(true));
  fill("a", 0);
  EXPECT_TRUE(changed(true));
}

TEST_F(ChangesTest, AnotherProcessIsSeen) {
  fill("a", 1);
  const std::string token = since("").token;
  const pid_t child = ::fork();
  if (child == 0) {
    auto other = SessionStore::open(folder.path().string());
    (void)(*other)->appendSessionEntries("a", {message("x", "x")});
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(mentions(since(token), "a"));
}

TEST_F(ChangesTest, AMapThatIsGoneOrDamagedMeansEverything) {
  fill("a", 1);
  const std::string token = since("").token;
  std::filesystem::remove(folder / "changes");
  store = open();
  const ChangeSet anew = since(token);
  EXPECT_TRUE(anew.all);
  EXPECT_TRUE(since(anew.token).none());
  store.reset();
  spill(folder / "changes", "short");
  store = open();
  EXPECT_TRUE(since(anew.token).all);
  must(store->appendSessionEntries("a", {message("x", "x")}));
}

// Touching a mapped page after the end of its file ends the process.
TEST_F(ChangesTest, AMapThatIsCutShortOrRemovedUnderAnOpenStoreIsReplaced) {
  fill("a", 1);
  fill("b", 1);
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{8192}}) {
    const std::string token = since("").token;
    std::filesystem::resize_file(folder / "changes", size);
    must(store->appendSessionEntries("a", {message("x")}));
    EXPECT_TRUE(since(token).all) << size;
    std::string next = since("").token;
    EXPECT_TRUE(since(next).none()) << size;
    std::filesystem::resize_file(folder / "changes", size);
    EXPECT_TRUE(since(next).all) << size;
  }
  // Who has it open goes on in the new one, which others see.
  auto other = open();
  must(other->changesSince(""));
  std::filesystem::remove(folder / "changes");
  const std::string token = since("").token;
  must(other->appendSessionEntries("a", {message("y")}));
  const ChangeSet changes = since(token);
  EXPECT_TRUE(mentions(changes, "a"));
  EXPECT_FALSE(changes.all);
  EXPECT_TRUE(since(changes.token).none());
}

TEST_F(ChangesTest, StampsDifferAfterEveryChange) {
  fill("a", 1);
  std::vector<std::string> stamps = {must(store->sessionStamp("a"))};
  EXPECT_EQ(must(store->sessionStamp("a")), stamps[0]);
  must(store->appendSessionEntries("a", {message("x", "x")}));
  stamps.push_back(must(store->sessionStamp("a")));
  must(store->archiveSession("a"));
  stamps.push_back(must(store->sessionStamp("a")));
  std::ranges::sort(stamps);
  EXPECT_EQ(std::ranges::adjacent_find(stamps), stamps.end());
  must(store->deleteSession("a"));
  EXPECT_EQ(refused(store->sessionStamp("a")).code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace bough
