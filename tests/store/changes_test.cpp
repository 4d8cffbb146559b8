// The store reports which sessions may have changed, and never leaves one out.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>

#include "store/file/parts/change_map.h"
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
    return mentions(changes, "a") && !changes.names && changes.ids == (names ? Ids{"a"} : Ids{});
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

// Touching a mapped page beyond the end of its file would kill the process.
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
  // A store that has the old map open switches to the new one, which other processes see.
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

// Marks of changes that several processes set and clear; some processes die and never clear theirs.
class NamesTest : public testing::Test {
 protected:
  void begin(const std::string& id) {
    open_.push_back({id, std::make_unique<ChangeMark>(map_, id, ChangeKind::Names)});
  }
  void end(std::size_t place) { open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place)); }
  ChangeSet look() {
    ChangeSet changes = must(map_.since(token_));
    token_ = changes.token;
    return changes;
  }

  TempFolder folder_;
  ChangeMap map_{*systemEnvironment().files.openRoot(folder_.path().string(), false), systemEnvironment()};
  std::vector<std::pair<std::string, std::unique_ptr<ChangeMark>>> open_;
  std::string token_;
};

TEST_F(NamesTest, FiveHundredAndTwelveChangesAreNamedMoreAreNot) {
  EXPECT_TRUE(look().all);
  for (const int count : {1, 512, 513, 3}) {
    for (int i = 0; i < count; ++i) {
      begin("s" + std::to_string(i));
      end(0);
    }
    const ChangeSet changes = look();
    EXPECT_EQ(changes.names, count > 512) << count;
    EXPECT_EQ(changes.ids.size(), count > 512 ? 0U : static_cast<std::size_t>(count));
    EXPECT_TRUE(look().none());
  }
}

TEST_F(NamesTest, AChangeThatNeverEndsIsNamedEachTimeUntilOthersTakeItsPlace) {
  (void)look();
  begin("dead");
  EXPECT_EQ(look().ids, Ids{"dead"});
  EXPECT_EQ(look().ids, Ids{"dead"});
  for (int i = 0; i < 600; ++i) {
    begin("other");
    end(1);
    EXPECT_FALSE(look().names);
  }
  EXPECT_TRUE(look().ids.empty());
  end(0);  // it was only slow
  EXPECT_TRUE(look().names);
  EXPECT_TRUE(look().none());
}

TEST_F(NamesTest, NoChangeIsLeftOutWhateverTheOrder) {
  std::mt19937 random(5);
  (void)look();
  std::set<std::string> since;  // cleared after the last look
  for (int step = 0; step < 20'000; ++step) {
    const auto what = random() % 100;
    if (what < 48) {
      begin("s" + std::to_string(random() % 5000));
    } else if (what < 97 && !open_.empty()) {
      const std::size_t place = random() % open_.size();
      since.insert(open_[place].first);
      end(place);
    } else if (random() % 20 == 0 || since.size() < 400) {
      const ChangeSet changes = look();
      const std::set<std::string> named(changes.ids.begin(), changes.ids.end());
      EXPECT_TRUE(changes.names || std::ranges::includes(named, since)) << step;
      since.clear();
    }
  }
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
