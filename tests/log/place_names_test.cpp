// References that were written while an entry was unreadable name the entry by its place in the log. When the entry
// moves to another place, they must still mean that entry.

#include <gtest/gtest.h>

#include <fstream>

#include "base/model/unreadable.h"
#include "bough/store.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

using Ids = std::vector<std::string>;

// The last entry of s is damaged. An index has counted it, so it is not torn.
class PlaceNames : public testing::Test {
 protected:
  PlaceNames() {
    open();
    must(store->createSession({.sessionId = "s"}));
    append("s", "a");
    append("s", "large", 300'000);
    append("s", "last");
    open();
    must(store->repairSession("s"));
    store.reset();
    sound_ = bytes();
    std::string damaged = sound_;
    damaged.replace(damaged.find(R"({"id":"last")"), 8, std::string(8, '#'));
    std::ofstream(path(), std::ios::binary) << damaged;
    open();
    lost = must(store->sessionState("s")).headId;
    EXPECT_TRUE(offsetOfUnreadableId(lost)) << lost;
  }
  void open() {
    store.reset();
    store = must(SessionStore::open(folder.path().string()));
  }
  void append(const std::string& session, const std::string& id, std::size_t size = 100) {
    must(store->appendSessionEntries(session, {message(std::string(size, 'x'), id)}));
  }
  // Restores the line; entries appended since then stay.
  void bringBack() {
    store.reset();
    std::string log = bytes();
    log.replace(0, sound_.size(), sound_);
    std::ofstream(path(), std::ios::binary) << log;
    open();
  }
  [[nodiscard]] std::string path() const { return folder / "sessions/s.jsonl"; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Ids idsOf(SessionStore& of, const std::string& session, const std::string& leaf) {
    Ids ids;
    for (const Entry& entry : must(of.loadSessionEntries(session, {.branch = leaf}))) ids.push_back(entry.id);
    return ids;
  }
  // Creates a fork at the damaged entry, with entries of its own that refer to it.
  void makeFork() {
    must(store->branchFromEntry("s", lost, {.sessionId = "f"}));
    append("f", "own");
    must(store->labelEntry("f", lost, "here"));
    must(store->redactEntry("f", lost, "me", "private"));
    must(store->moveHead("f", lost));
  }
  void erase(const std::string& session, const std::string& id) {
    must(store->maintenance().erase({.sessionId = session, .entryIds = {id}, .by = "me", .reason = "a request"}));
  }
  static void expectWhole(SessionStore& of) {
    EXPECT_EQ(idsOf(of, "f", "own"), (Ids{"a", "large", "last", "own"}));
    EXPECT_EQ(must(of.sessionState("f")).headId, "last");
    EXPECT_TRUE(must(of.loadEntry("f", "last")).redacted);
    EXPECT_EQ(must(of.verifySession("f")).problemCount, 0U);
    must(of.moveHead("f", "a"));
    must(of.restoreLabel("f", "here"));
    EXPECT_EQ(must(of.sessionState("f")).headId, "last");
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
  std::string lost;

 private:
  std::string sound_;
};

TEST_F(PlaceNames, AForkThatIsDetachedKeepsItsHistory) {
  makeFork();
  bringBack();
  must(store->maintenance().detach("f"));
  expectWhole(*store);
}

TEST_F(PlaceNames, AForkWithoutEntriesThatIsDetachedKeepsItsHead) {
  must(store->branchFromEntry("s", lost, {.sessionId = "f"}));
  bringBack();
  must(store->maintenance().detach("f"));
  EXPECT_EQ(must(store->sessionState("f")).headId, "last");
  append("f", "own");
  EXPECT_EQ(idsOf(*store, "f", "own"), (Ids{"a", "large", "last", "own"}));
}

TEST_F(PlaceNames, WhatIsLeftOfAForkKeepsItsHistory) {
  must(store->appendSessionEntries("s", {message("x", "after")}));
  makeFork();
  must(store->branchFromEntry("f", "own", {.sessionId = "g"}));
  append("g", "its");
  bringBack();
  must(store->maintenance().detachRest("g"));
  EXPECT_EQ(idsOf(*store, "g", "its"), (Ids{"a", "large", "last", "own", "its"}));
}

// In the other store, lines have other lengths and places.
TEST_F(PlaceNames, CopiesHaveTheIdsOfWhatIsNamedByItsPlace) {
  append("s", "after");
  must(store->moveHead("s", lost));
  makeFork();
  bringBack();
  store.reset();
  TempFolder elsewhere;
  {
    auto from = must(StoreSide::open(folder.path().string()));
    auto to = must(StoreSide::open(elsewhere / "copy"));
    must(copySession(from, to, "f"));
    must(copySession(from, to, "f"));
    EXPECT_EQ(must(to.store->loadEntry("s", "after")).parentId, "last");
    EXPECT_EQ(must(to.store->sessionState("s")).headId, "last");
    for (const std::string session : {"s", "f"}) {
      const auto isNamed = [](std::string_view line) {
        EXPECT_EQ(line.find("unreadable:"), std::string_view::npos) << line;
        return true;
      };
      must(to.store->exportSession(session, isNamed));
    }
    expectWhole(*to.store);
    const auto synced = must(syncSession(from, to, "f"));
    EXPECT_EQ(synced.back().toRight, 0U);
  }
  open();
  expectWhole(*store);
}

// Lines after the erased entry move, but the fork is not rewritten.
TEST_F(PlaceNames, AForkKeepsItsHistoryWhenItsParentIsErasedFrom) {
  makeFork();
  bringBack();
  erase("s", "a");
  expectWhole(*store);
  erase("s", "large");
  expectWhole(*store);
}

TEST_F(PlaceNames, AForkKeepsItsHistoryWhileItCannotBeRead) {
  makeFork();
  erase("s", "a");
  erase("s", "large");
  const Ids whole = idsOf(*store, "f", "own");
  ASSERT_EQ(whole.size(), 4U);
  EXPECT_EQ(whole.front(), "a");
  EXPECT_TRUE(offsetOfUnreadableId(whole[2])) << whole[2];
  EXPECT_EQ(must(store->sessionState("f")).headId, whole[2]);
  EXPECT_TRUE(must(store->loadEntry("f", whole[2])).redacted);
  EXPECT_EQ(must(store->loadEntry("f", lost)).id, whole[2]);
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
  must(store->branchFromEntry("f", whole[2], {.sessionId = "g"}));
  EXPECT_EQ(idsOf(*store, "g", whole[2]).size(), 3U);
}

TEST_F(PlaceNames, AForkKeepsItsHistoryWhenTheDamagedEntryIsErased) {
  makeFork();
  erase("s", "a");
  erase("f", must(store->sessionState("f")).headId);
  const Ids whole = idsOf(*store, "f", "own");
  ASSERT_EQ(whole.size(), 4U);
  EXPECT_EQ(must(store->sessionState("f")).headId, whole[2]);
  EXPECT_TRUE(must(store->loadEntry("f", whole[2])).redacted);
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
}

TEST_F(PlaceNames, AForkOfAForkAndAnArchivedOneKeepTheirHistory) {
  makeFork();
  must(store->branchFromEntry("f", lost, {.sessionId = "g"}));
  append("g", "its");
  must(store->branchFromEntry("f", "own", {.sessionId = "h"}));
  must(store->archiveSession("g"));
  must(store->archiveSession("s"));
  erase("h", "a");
  EXPECT_EQ(idsOf(*store, "g", "its").size(), 4U);
  EXPECT_EQ(idsOf(*store, "h", "own").size(), 4U);
}

// When the fork's own lines move, its references to places in the parent's log must not change.
TEST_F(PlaceNames, AnErasureInTheForkLeavesTheNamesOfItsParentsPlaces) {
  must(store->branchFromEntry("s", lost, {.sessionId = "f"}));
  append("f", "first", 400'000);
  must(store->moveHead("f", lost));
  append("f", "own");
  must(store->labelEntry("f", lost, "here"));
  must(store->redactEntry("f", lost, "me", "private"));
  must(store->moveHead("f", lost));
  erase("f", "first");
  bringBack();
  expectWhole(*store);
}

// A line begins at 0, and none begins at 1.
TEST_F(PlaceNames, NoEntryHasTheIdOfAPlace) {
  for (const char* id : {"unreadable:0", "unreadable:1"}) {
    const auto refused = store->appendSessionEntries("s", {message("x", id)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("means the place"), std::string::npos) << refused.error().message;
  }
  append("s", "unreadable:0a");
}

}  // namespace
}  // namespace bough
