// Sessions in the trash can be restored, and nothing that they need is removed before them.
#include <filesystem>

#include "store_support.h"

namespace bough {
namespace {

class TrashTest : public StoreTest {};

TEST_F(TrashTest, ASessionComesBackAsItWas) {
  fill("a", 3);
  const std::string before = slurp(logPath("a"));
  const TrashedSession moved = must(store->trashSession("a"));
  EXPECT_EQ(moved.bytes, before.size());
  EXPECT_TRUE(must(store->listSessions()).empty());
  EXPECT_EQ(refused(store->loadSessionEntries("a")).code, ErrorCode::NotFound);
  ASSERT_EQ(must(store->listTrash()).size(), 1u);
  EXPECT_EQ(must(store->listTrash())[0].sessionId, "a");
  must(store->restoreSession(moved.trashId));
  EXPECT_EQ(slurp(logPath("a")), before);
  EXPECT_TRUE(must(store->listTrash()).empty());
  must(store->appendSessionEntries("a", {message("4", "e4")}));
  EXPECT_EQ(idsOf(*store, "a"), (Ids{"e1", "e2", "e3", "e4"}));
}

// A process that appends without pause checks the name of its file last.
TEST_F(TrashTest, AnAppendThatComesTooLateLeavesNothingInTheTrash) {
  fill("a", 2);
  must(store->appendSessionEntries("a", {message("3", "e3")}));
  const auto other = open();
  const TrashedSession moved = must(other->trashSession("a"));
  EXPECT_EQ(refused(store->appendSessionEntries("a", {message("late", "late")})).code, ErrorCode::NotFound);
  must(other->restoreSession(moved.trashId));
  EXPECT_EQ(idsOf(*other, "a"), (Ids{"e1", "e2", "e3"}));
  must(store->appendSessionEntries("a", {message("4", "e4")}));
  EXPECT_EQ(idsOf(*other, "a"), (Ids{"e1", "e2", "e3", "e4"}));
  EXPECT_EQ(must(other->verifySession("a")).problemCount, 0U);
}

// Entries in the trash do not count as stored: they cause neither duplicates nor conflicts.
TEST_F(TrashTest, AnAppendIsJudgedByTheSessionThatHasTheNameNow) {
  fill("a", 2);
  must(store->appendSessionEntries("a", {message("3", "e3")}));
  const auto other = open();
  must(other->trashSession("a"));
  EXPECT_EQ(refused(store->appendSessionEntries("a", {message("3", "e3")})).code, ErrorCode::NotFound);
  const auto renew = [&] {
    must(other->createSession({.sessionId = "a"}));
    must(store->appendSessionEntries("a", {message("1", "n1")}));
    must(store->appendSessionEntries("a", {message("2", "n2")}));
    must(other->trashSession("a"));
    must(other->createSession({.sessionId = "a"}));
  };
  renew();
  EXPECT_EQ(must(store->appendSessionEntries("a", {message("2", "n2")})).appendedCount, 1U);
  EXPECT_EQ(idsOf(*other, "a"), (Ids{"n2"}));
  must(other->trashSession("a"));
  renew();
  const std::string tail = must(other->sessionState("a")).tailId;
  EXPECT_EQ(must(store->appendSessionEntries("a", {message("x", "x")}, {.expectedTail = tail})).appendedCount, 1U);
}

TEST_F(TrashTest, AnArchivedSessionComesBackArchived) {
  fill("a", 3);
  must(store->archiveSession("a"));
  const TrashedSession moved = must(store->trashSession("a"));
  must(store->restoreSession(moved.trashId));
  EXPECT_TRUE(must(store->sessionState("a")).archived);
  EXPECT_EQ(idsOf(*store, "a"), (Ids{"e1", "e2", "e3"}));
}

// A process died after the log got its name in the trash and before it lost the old name.
TEST_F(TrashTest, ASessionWhoseMoveWasInterruptedIsThereOnceWhenItIsMovedAgain) {
  fill("a", 3);
  fill("b", 1);
  must(store->trashSession("b"));
  for (const char* when : {"1", "2"}) {
    std::filesystem::create_hard_link(logPath("a"), folder / ("trash/a~" + std::string(when) + ".jsonl"));
  }
  const TrashedSession moved = must(store->trashSession("a"));
  ASSERT_EQ(must(store->listTrash()).size(), 2U);
  must(store->restoreSession(moved.trashId));
  EXPECT_EQ(idsOf(*store, "a"), (Ids{"e1", "e2", "e3"}));
  EXPECT_EQ(must(store->listTrash()).size(), 1U);
}

// The torn bytes were put back or removed since, and others may have come: those of the interrupted move never come
// back.
TEST_F(TrashTest, TornBytesOfAnInterruptedMoveDoNotComeBackWhenItIsMovedAgain) {
  const auto torn = folder / "sessions/a.torn";
  for (const char* now : {"", "other"}) {
    fill("a", 3);
    spill(torn, "old");
    std::filesystem::create_directory(folder / "trash");
    std::filesystem::create_hard_link(logPath("a"), folder / "trash/a~1.jsonl");
    std::filesystem::create_hard_link(torn, folder / "trash/a~1.torn");
    std::filesystem::remove(torn);
    if (*now != '\0') spill(torn, now);
    const TrashedSession moved = must(store->trashSession("a"));
    ASSERT_EQ(must(store->listTrash()).size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder / "trash/a~1.torn"));
    must(store->restoreSession(moved.trashId));
    EXPECT_EQ(idsOf(*store, "a"), (Ids{"e1", "e2", "e3"}));
    EXPECT_EQ(std::filesystem::exists(torn) ? slurp(torn) : "", now);
    must(store->emptyTrash({must(store->trashSession("a")).trashId}));
  }
}

TEST_F(TrashTest, TornBytesOfAnInterruptedMoveGoWhenTheTrashIsListed) {
  const auto torn = folder / "sessions/a.torn";
  for (const char* now : {"", "other"}) {
    fill("a", 3);
    spill(torn, "old");
    std::filesystem::create_directory(folder / "trash");
    std::filesystem::create_hard_link(logPath("a"), folder / "trash/a~1.jsonl");
    std::filesystem::rename(torn, folder / "trash/a~1.torn");
    if (*now != '\0') spill(torn, now);
    EXPECT_TRUE(must(store->listTrash()).empty());
    EXPECT_FALSE(std::filesystem::exists(folder / "trash/a~1.torn"));
    EXPECT_EQ(std::filesystem::exists(torn) ? slurp(torn) : "", now);
    must(store->emptyTrash({must(store->trashSession("a")).trashId}));
  }
}

TEST_F(TrashTest, TornBytesGoAlongAndComeBack) {
  fill("a", 1);
  spill(folder / "sessions/a.torn", "torn");
  const TrashedSession moved = must(store->trashSession("a"));
  EXPECT_FALSE(std::filesystem::exists(folder / "sessions/a.torn"));
  must(store->restoreSession(moved.trashId));
  EXPECT_EQ(slurp(folder / "sessions/a.torn"), "torn");
}

TEST_F(TrashTest, TwoOfOneIdLieSideBySide) {
  fill("a", 1);
  const TrashedSession first = must(store->trashSession("a"));
  fill("a", 2);
  EXPECT_EQ(refused(store->restoreSession(first.trashId)).code, ErrorCode::AlreadyExists);
  EXPECT_EQ(idsOf(*store, "a").size(), 2u);
  const TrashedSession second = must(store->trashSession("a"));
  EXPECT_NE(first.trashId, second.trashId);
  EXPECT_EQ(must(store->listTrash()).size(), 2u);
  must(store->restoreSession(first.trashId));
  EXPECT_EQ(idsOf(*store, "a").size(), 1u);
}

TEST_F(TrashTest, EmptyingRemovesOnlyWhatIsNamed) {
  fill("a", 1);
  fill("b", 1);
  const TrashedSession a = must(store->trashSession("a"));
  const TrashedSession b = must(store->trashSession("b"));
  EXPECT_EQ(must(store->emptyTrash({a.trashId})), a.bytes);
  ASSERT_EQ(must(store->listTrash()).size(), 1u);
  EXPECT_EQ(refused(store->restoreSession(a.trashId)).code, ErrorCode::NotFound);
  must(store->restoreSession(b.trashId));
}

TEST_F(TrashTest, ASessionWithForksStaysUnlessTheyAreDetached) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "f"}));
  const Error error = refused(store->trashSession("a"));
  EXPECT_EQ(error.code, ErrorCode::HasForks);
  EXPECT_NE(error.message.find("f"), std::string::npos);
  must(store->trashSession("a", {.detachForks = true}));
  EXPECT_EQ(idsOf(*store, "f", {.type = "message"}), (Ids{"e1", "e2"}));
}

TEST_F(TrashTest, AForkInTheTrashKeepsWhatItShares) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "f"}));
  const TrashedSession fork = must(store->trashSession("f"));
  EXPECT_EQ(refused(store->deleteSession("a")).code, ErrorCode::HasForks);
  const TrashedSession parent = must(store->trashSession("a"));
  EXPECT_EQ(refused(store->restoreSession(fork.trashId)).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->emptyTrash({parent.trashId})).code, ErrorCode::HasForks);
  EXPECT_EQ(must(store->listTrash()).size(), 2u);
  must(store->restoreSession(parent.trashId));
  must(store->restoreSession(fork.trashId));
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"e1", "e2"}));
}

// Another session may have the parent's id now.
TEST_F(TrashTest, AForkComesBackToItsOwnParentOnly) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "f"}));
  const TrashedSession fork = must(store->trashSession("f"));
  const TrashedSession parent = must(store->trashSession("a"));
  must(store->createSession({.sessionId = "a"}));
  const Error error = refused(store->restoreSession(fork.trashId));
  EXPECT_EQ(error.code, ErrorCode::NotFound);
  EXPECT_TRUE(error.hint.contains("`bough rm a`, then `bough trash --restore " + parent.trashId)) << error.hint;
  const Error kept = refused(store->emptyTrash({parent.trashId}));
  EXPECT_EQ(kept.code, ErrorCode::HasForks);
  EXPECT_TRUE(kept.hint.contains("`bough trash --restore " + parent.trashId)) << kept.hint;
}

// The user put back a copy of the session that is also in the trash.
TEST_F(TrashTest, WhatLivesAgainNeedNotLieInTheTrash) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "f"}));
  const std::string log = slurp(logPath("a"));
  const std::string forkLog = slurp(logPath("f"));
  must(store->trashSession("f"));
  const TrashedSession parent = must(store->trashSession("a"));
  spill(logPath("f"), forkLog);
  for (const std::size_t cut : {log.find("m2"), log.size()}) {
    spill(logPath("a"), log.substr(0, cut));
    store = open();
    EXPECT_EQ(store->emptyTrash({parent.trashId}).has_value(), cut == log.size());
  }
}

// A damaged parent is still the right parent.
TEST_F(TrashTest, AForkComesBackThoughItsForkPointIsDamaged) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "f"}));
  const TrashedSession fork = must(store->trashSession("f"));
  std::string bytes = slurp(logPath("a"));
  spill(logPath("a"), bytes.replace(bytes.find("m2"), 2, "XX"));
  store = open();
  must(store->restoreSession(fork.trashId));
}

TEST_F(TrashTest, AttachmentsOfWhatLiesInTheTrashAreInUse) {
  must(store->createSession({.sessionId = "a"}));
  must(store->appendSessionEntries("a", {message(std::string(400'000, 'x'), "big")}));
  const TrashedSession moved = must(store->trashSession("a"));
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
  must(store->restoreSession(moved.trashId));
  EXPECT_GT(must(store->loadEntry("a", "big")).payload.size(), 400'000u);
  must(store->emptyTrash({must(store->trashSession("a")).trashId}));
  EXPECT_EQ(must(store->findUnusedAttachments()).size(), 1u);
}

TEST_F(TrashTest, NamesThatAreNoneAreRefused) {
  for (const std::string name : {"", "a", "../a~1", "a~", "a~x", "~1", "a~1/../b"}) {
    EXPECT_EQ(refused(store->restoreSession(name)).code, ErrorCode::NotFound) << name;
  }
}

TEST_F(TrashTest, AStoreInMemoryHasOneToo) {
  store = must(SessionStore::open("memory:"));
  fill("a", 2);
  const TrashedSession moved = must(store->trashSession("a"));
  EXPECT_TRUE(must(store->listSessions()).empty());
  must(store->restoreSession(moved.trashId));
  EXPECT_EQ(idsOf(*store, "a").size(), 2u);
  must(store->emptyTrash({must(store->trashSession("a")).trashId}));
  EXPECT_TRUE(must(store->listTrash()).empty());
}

}  // namespace
}  // namespace bough
