// Bringing stores together that were written to independently.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/json/json_scan.h"
#include "bough/catalog.h"
#include "store/copy_support.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

TEST(Sync, WhatTwoMachinesWroteApartIsOnBothAfterwards) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a")}));
  ASSERT_TRUE(syncSession(left, right, "s"));
  EXPECT_EQ(lines(left, "s"), lines(right, "s"));
  // Write to both stores independently.
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("l1"), message("l2")}));
  ASSERT_TRUE(left.store->labelEntry("s", "a", "here"));
  ASSERT_TRUE(right.store->appendSessionEntries("s", {message("r1")}));
  ASSERT_TRUE(right.store->labelEntry("s", "r1", "here"));
  const auto synced = syncSession(left, right, "s");
  ASSERT_TRUE(synced) << synced.error().message;
  EXPECT_EQ(synced->front().notes.size(), 2U);  // the head and the label
  auto onLeft = lines(left, "s");
  auto onRight = lines(right, "s");
  std::ranges::sort(onLeft);
  std::ranges::sort(onRight);
  EXPECT_EQ(onLeft, onRight);
  EXPECT_EQ(left.store->sessionState("s")->headId, right.store->sessionState("s")->headId);
  EXPECT_EQ(left.store->labels("s")->front().entryId, right.store->labels("s")->front().entryId);
  EXPECT_EQ(left.store->loadSessionEntries("s", {.branch = "l2"})->size(), 3U);
  EXPECT_EQ(left.store->loadSessionEntries("s", {.branch = "r1"})->size(), 2U);
  const auto again = syncSession(left, right, "s");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->front().toLeft + again->front().toRight, 0U);
}

TEST(Sync, AForkThatWasDetachedInOneStoreIsDetachedInTheOther) {
  for (const bool swapped : {false, true}) {
    const TempFolder folder;
    StoreSide left = openSide(folder / "left");
    StoreSide right = openSide(folder / "right");
    ASSERT_TRUE(left.store->createSession({.sessionId = "p"}));
    ASSERT_TRUE(left.store->appendSessionEntries("p", {message("a"), message("b")}));
    ASSERT_TRUE(left.store->branchFromEntry("p", "b", {.sessionId = "f"}));
    ASSERT_TRUE(left.store->appendSessionEntries("f", {message("c")}));
    ASSERT_TRUE(syncSession(left, right, "f"));
    const auto at = [](const std::string& id, const std::string& year) {
      Entry entry = message(id);
      entry.timestamp = year + "-01-01T00:00:00.000Z";
      return entry;
    };
    ASSERT_TRUE(left.store->appendSessionEntries("f", {at("l", "2098")}));
    ASSERT_TRUE(right.store->appendSessionEntries("f", {at("r", "2099")}));
    for (StoreSide* const side : {&left, &right}) ASSERT_TRUE(side->store->labelEntry("p", "a", "here"));
    ASSERT_TRUE(left.store->maintenance().detach("f"));
    for (const Error& error : {copySession(left, right, "f").error(), copySession(right, left, "f").error()}) {
      EXPECT_EQ(error.code, ErrorCode::Conflict);
      EXPECT_TRUE(error.hint.contains("bough sync")) << error.hint;
    }
    StoreSide& first = swapped ? right : left;
    StoreSide& second = swapped ? left : right;
    const auto synced = syncSession(first, second, "f");
    ASSERT_TRUE(synced) << synced.error().message;
    EXPECT_TRUE(synced->back().notes.front().contains("its own copy")) << synced->back().notes.front();
    auto onLeft = lines(left, "f");
    auto onRight = lines(right, "f");
    std::ranges::sort(onLeft);
    std::ranges::sort(onRight);
    EXPECT_EQ(onLeft, onRight);
    for (StoreSide* const side : {&left, &right}) {
      EXPECT_FALSE(side->store->sessionState("f")->origin);
      EXPECT_EQ(side->store->sessionState("f")->headId, "r");
      EXPECT_EQ(side->store->loadSessionEntries("f", {.branch = "l"})->size(), 4U);
      EXPECT_EQ(side->store->labels("f")->front().entryId, "a");
      EXPECT_EQ(side->store->verifySession("f")->problemCount, 0U);
    }
    const auto again = syncSession(first, second, "f");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->back().notes.empty());
    EXPECT_EQ(again->back().toLeft + again->back().toRight, 0U);
  }
}

// One of them was detached when less was known, or by a version that recorded less.
TEST(Sync, WhereTheHistoryBeganMayBeKnownToOneStoreAlone) {
  StoreSide left = openSide("memory:");
  StoreSide right = openSide("memory:");
  for (StoreSide* const side : {&left, &right}) {
    Entry header = message("h");
    header.type = entry_type::kSessionHeader;
    header.timestamp = "2026-01-01T00:00:00.000Z";
    header.payload = R"({"format":1,"sessionId":"f","detachedFrom":{"sessionId":"p","entryId":"a"})";
    header.payload += side == &left ? R"(,"rootSession":"r"})" : "}";
    ASSERT_TRUE(side->backend->create({.sessionId = "f", .entries = {header}, .origin = {}}));
  }
  ASSERT_TRUE(left.store->appendSessionEntries("f", {message("x")}));
  const auto copied = copySession(left, right, "f");
  ASSERT_TRUE(copied) << copied.error().message;
  ASSERT_TRUE(right.store->appendSessionEntries("f", {message("y")}));
  const auto synced = syncSession(left, right, "f");
  ASSERT_TRUE(synced) << synced.error().message;
  EXPECT_EQ(left.store->sessionState("f")->tailId, "y");
}

TEST(Sync, ASessionInTheTrashOfOneStoreComesBackAndThatIsTold) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a")}));
  const auto first = syncSession(left, right, "s");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->front().notes.empty());
  for (StoreSide* const side : {&left, &right}) {
    ASSERT_TRUE(side->store->trashSession("s"));
    const auto synced = syncSession(left, right, "s");
    ASSERT_TRUE(synced) << synced.error().message;
    ASSERT_EQ(synced->front().notes.size(), 1U);
    EXPECT_TRUE(synced->front().notes.front().contains("trash")) << synced->front().notes.front();
    EXPECT_EQ(lines(left, "s"), lines(right, "s"));
  }
  for (StoreSide* const side : {&left, &right}) ASSERT_TRUE(side->store->trashSession("s"));
  EXPECT_EQ(syncSession(left, right, "s").error().code, ErrorCode::NotFound);
}

// Reading the trash for each of many sessions would take far too long.
TEST(Sync, ALongTrashIsNotReadForEachSession) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  std::filesystem::create_directory(folder / "right/trash");
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(left.store->createSession({.sessionId = "s" + std::to_string(i)}));
    std::ofstream(folder / ("right/trash/s" + std::to_string(i) + "~1700000000000.jsonl"));
  }
  const auto notes = [&](int i) {
    const auto synced = syncSession(left, right, "s" + std::to_string(i));
    EXPECT_TRUE(synced) << synced.error().message;
    return synced ? synced->front().notes.size() : 0;
  };
  EXPECT_EQ(notes(0), 1U);
  std::filesystem::remove_all(folder / "right/trash");
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(notes(i), 1U) << i;  // a tenth of its length
  EXPECT_EQ(notes(5), 0U);
  EXPECT_EQ(notes(6), 0U);
}

// Sync between two stores must not make a repeated change newer than the latest change of a third store.
TEST(Sync, OfThreeStoresTheNewestChangeWins) {
  const TempFolder folder;
  std::vector<StoreSide> stores;
  for (const char* name : {"middle", "one", "two", "three"}) stores.push_back(openSide(folder / name));
  StoreSide& middle = stores[0];
  ASSERT_TRUE(middle.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(middle.store->appendSessionEntries("s", {message("a")}));
  for (std::size_t i = 1; i < 4; ++i) ASSERT_TRUE(syncSession(middle, stores[i], "s"));
  const auto at = [](Entry entry, std::size_t second) {
    entry.timestamp = "2026-01-01T00:00:0" + std::to_string(second) + ".000Z";
    return entry;
  };
  const auto info = [](const std::string& payload) {
    Entry entry;
    entry.type = entry_type::kSessionInfo;
    entry.payload = payload;
    return entry;
  };
  for (std::size_t i = 1; i < 4; ++i) {  // the third store made the latest change to everything
    const std::string number = std::to_string(i);
    ASSERT_TRUE(stores[i].store->appendSessionEntries(
        "s", {at(message("m" + number), i), at(info(R"({"title":"t)" + number + R"("})"), i),
              at(info(i == 2 ? R"({"pinned":true})" : R"({"pinned":false,"timeToLiveMs":)" + number + "}"), i)}));
  }
  for (const std::size_t i : {3U, 1U, 2U, 3U, 1U, 2U, 3U}) ASSERT_TRUE(syncSession(middle, stores[i], "s"));
  for (StoreSide& store : stores) {
    EXPECT_EQ(store.store->sessionState("s")->headId, "m3");
    std::map<std::string, std::string> last;
    const auto entries = store.store->loadSessionEntries("s");
    ASSERT_TRUE(entries);
    for (const Entry& entry : *entries) {
      if (entry.type != entry_type::kSessionInfo) continue;
      for (const char* member : {"title", "pinned", "timeToLiveMs"}) {
        if (const auto value = json::findMember(entry.payload, member)) last[member] = *value;
      }
    }
    EXPECT_EQ(last["title"], R"("t3")");
    EXPECT_EQ(last["pinned"], "false");
    EXPECT_EQ(last["timeToLiveMs"], "3");
  }
  for (std::size_t i = 1; i < 4; ++i) {
    const auto again = syncSession(middle, stores[i], "s");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->front().toLeft + again->front().toRight, 0U);
  }
}

// Content erased in one store does not come back from another, and does not count as a manual change.
TEST(Sync, AnEntryThatIsErasedInOneStoreIsToldUntilItIsErasedInBoth) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a", "a secret"), message("b")}));
  ASSERT_TRUE(syncSession(left, right, "s"));
  const auto erase = [](StoreSide& side) {
    return side.store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "me", .reason = "a request"});
  };
  ASSERT_TRUE(erase(left));
  const auto before = lines(right, "s");
  for (const Error& error : {syncSession(left, right, "s").error(), copySession(left, right, "s").error()}) {
    EXPECT_EQ(error.code, ErrorCode::IdConflict);
    EXPECT_TRUE(error.message.contains("entry a of session s was erased in " + left.backend->describe()))
        << error.message;
    EXPECT_TRUE(error.hint.contains("bough erase")) << error.hint;
  }
  EXPECT_EQ(lines(right, "s"), before);
  ASSERT_TRUE(erase(right));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("c")}));
  const auto synced = syncSession(left, right, "s");
  ASSERT_TRUE(synced) << synced.error().message;
  for (StoreSide* side : {&left, &right}) {
    for (const std::string& line : lines(*side, "s")) EXPECT_FALSE(line.contains("a secret")) << line;
    EXPECT_EQ(side->store->sessionState("s")->headId, "c");
    EXPECT_EQ(side->store->verifySession("s")->problemCount, 0U);
  }
}

// It does not come back either when the session was moved to the trash afterwards.
TEST(Sync, WhatWasErasedDoesNotComeBackForASessionInTheTrash) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a", "a secret"), message("b")}));
  ASSERT_TRUE(syncSession(left, right, "s"));
  const auto erase = [](StoreSide& side) {
    return side.store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "me", .reason = "a request"});
  };
  ASSERT_TRUE(erase(right));
  ASSERT_TRUE(right.store->trashSession("s"));
  for (const Error& error : {syncSession(left, right, "s").error(), syncSession(right, left, "s").error(),
                             copySession(left, right, "s").error()}) {
    EXPECT_EQ(error.code, ErrorCode::IdConflict);
    EXPECT_TRUE(error.message.contains("entry a of session s was erased in " + right.backend->describe()))
        << error.message;
    EXPECT_EQ(right.store->sessionState("s").error().code, ErrorCode::NotFound);
  }
  ASSERT_TRUE(erase(left));
  const auto synced = syncSession(left, right, "s");
  ASSERT_TRUE(synced) << synced.error().message;
  for (const std::string& line : lines(right, "s")) EXPECT_FALSE(line.contains("a secret")) << line;
}

// Nor from a fork that has its own copy in the other store, whether or not that store has the fork's parent.
TEST(Sync, WhatWasErasedDoesNotComeBackInACopyOfTheHistory) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a", "a secret"), message("b")}));
  ASSERT_TRUE(left.store->branchFromEntry("s", "b", {.sessionId = "fork"}));
  ASSERT_TRUE(syncSession(left, right, "fork"));
  ASSERT_TRUE(left.store->maintenance().detach("fork"));
  ASSERT_TRUE(
      right.store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "me", .reason = "a request"}));
  for (const char* const gone : {"fork", "s"}) {
    ASSERT_TRUE(right.store->trashSession(gone));
    EXPECT_EQ(syncSession(left, right, "fork").error().code, ErrorCode::IdConflict);
    EXPECT_EQ(copySession(left, right, "fork").error().code, ErrorCode::IdConflict);
    EXPECT_EQ(right.store->sessionState("fork").error().code, ErrorCode::NotFound);
  }
}

// For an unreadable line, type and time are lost as well.
TEST(Sync, ADamagedEntryThatIsErasedInBothStoresIsTheSame) {
  const TempFolder folder;
  StoreSide right = openSide(folder / "right");
  {
    StoreSide left = openSide(folder / "left");
    ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
    ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a", "a secret"), message("b")}));
    ASSERT_TRUE(syncSession(left, right, "s"));
    const auto catalog = Catalog::open(*left.store);  // remembers the ids
    ASSERT_TRUE(catalog && (*catalog)->catchUp());
  }
  const std::string log = folder / "left/sessions/s.jsonl";
  std::ifstream file(log);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  bytes[bytes.find("secret")] = '#';
  std::ofstream(log) << bytes;
  StoreSide left = openSide(folder / "left");
  for (StoreSide* side : {&left, &right}) {
    const auto erased =
        side->store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "me", .reason = "a request"});
    ASSERT_TRUE(erased) << erased.error().message;
  }
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("c")}));
  for (int i = 0; i < 2; ++i) {
    const auto synced = syncSession(left, right, "s");
    ASSERT_TRUE(synced) << synced.error().message;
  }
  EXPECT_TRUE(right.store->loadEntry("s", "c"));
}

// A sync that was interrupted after one side had received everything, but not the other.
TEST(Sync, WhatWasCutOffIsBroughtToTheSameEndAfterwards) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a")}));
  ASSERT_TRUE(syncSession(left, right, "s"));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("l1")}));
  ASSERT_TRUE(left.store->setTitle("s", "left"));
  ASSERT_TRUE(right.store->appendSessionEntries("s", {message("r1")}));
  ASSERT_TRUE(right.store->setTitle("s", "right"));
  const auto missing = right.store->loadSessionEntries("s");
  ASSERT_TRUE(missing);
  ASSERT_TRUE(left.store->appendSessionEntries("s", {missing->begin() + 2, missing->end()}));
  EXPECT_NE(left.store->sessionState("s")->headId, "l1");
  const auto synced = syncSession(left, right, "s");
  ASSERT_TRUE(synced) << synced.error().message;
  EXPECT_EQ(left.store->sessionState("s")->headId, right.store->sessionState("s")->headId);
  EXPECT_EQ(synced->front().notes.size(), 2U);  // the head and the title
  EXPECT_EQ(lines(left, "s").back(), lines(right, "s").back());
  const auto again = syncSession(left, right, "s");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->front().toLeft + again->front().toRight, 0U);
}

// Longer than one read.
TEST(Sync, LongSessionsThatWereWrittenApartAreTheSameAfterwards) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  const auto add = [](StoreSide& side, const std::string& name) {
    std::vector<Entry> many;
    for (int i = 0; i < 1200; ++i) many.push_back(message(name + std::to_string(i)));
    ASSERT_TRUE(side.store->appendSessionEntries("s", std::move(many)));
  };
  add(left, "both");
  ASSERT_TRUE(syncSession(left, right, "s"));
  add(left, "l");
  add(right, "r");
  const auto synced = syncSession(left, right, "s");
  ASSERT_TRUE(synced) << synced.error().message;
  EXPECT_EQ(synced->front().toLeft, 1201U) << "and the head";
  EXPECT_EQ(synced->front().toRight, 1201U);
  auto onLeft = lines(left, "s");
  auto onRight = lines(right, "s");
  std::ranges::sort(onLeft);
  std::ranges::sort(onRight);
  EXPECT_EQ(onLeft.size(), 3602U);
  EXPECT_EQ(onLeft, onRight);
}

TEST(Sync, AnEntryWithOtherContentIsRefused) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a")}));
  ASSERT_TRUE(syncSession(left, right, "s"));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("b", "one")}));
  ASSERT_TRUE(right.store->appendSessionEntries("s", {message("b", "other")}));
  const auto before = lines(right, "s");
  EXPECT_EQ(syncSession(left, right, "s").error().code, ErrorCode::IdConflict);
  EXPECT_EQ(lines(right, "s"), before);
  EXPECT_EQ(syncSession(left, right, "nobody").error().code, ErrorCode::NotFound);
}

TEST(Sync, AnAttachmentThatOneStoreHasLostComesBackFromTheOther) {
  const TempFolder folder;
  const auto lose = [&](const std::string& store) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder / (store + "/attachments"))) {
      if (file.path().filename().string().size() == 62) std::filesystem::remove(file.path());
    }
  };
  {
    StoreSide left = openSide(folder / "left");
    StoreSide right = openSide(folder / "right");
    ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
    // One attachment, used by two entries.
    const std::string large(300'000, 'x');
    ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a", large), message("b", large), message("c")}));
    ASSERT_TRUE(syncSession(left, right, "s"));
  }
  for (const std::string lost : {"left", "right"}) {
    lose(lost);
    StoreSide left = openSide(folder / "left");
    StoreSide right = openSide(folder / "right");
    StoreSide& target = lost == "left" ? left : right;
    const auto synced = syncSession(left, right, "s");
    ASSERT_TRUE(synced) << synced.error().message;
    EXPECT_EQ(target.store->verifySession("s")->problemCount, 0U);
    lose(lost);
    const auto copied = copySession(lost == "left" ? right : left, target, "s");
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(target.store->verifySession("s")->problemCount, 0U);
  }
  lose("left");
  lose("right");
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  EXPECT_EQ(syncSession(left, right, "s").error().code, ErrorCode::Damaged);
}

}  // namespace
}  // namespace bough
