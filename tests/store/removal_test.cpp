// A removal never takes along what something else may need, however damaged that is.
#include <gtest/gtest.h>

#include "log/format/line.h"
#include "store/store_support.h"

namespace bough {
namespace {

class RemovalTest : public StoreTest {
 protected:
  RemovalTest() {
    fill("p", 3);
    must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
    must(store->appendSessionEntries("f", {message("own", "f1")}));
  }
  // Overwrites one text of a file with another, like a bad disk.
  void damage(const std::string& path, const std::string& text, const std::string& with) {
    std::string bytes = slurp(path);
    const std::size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    ASSERT_EQ(text.size(), with.size());
    spill(path, bytes.replace(at, text.size(), with));
    store = open();
  }
  void damageArchive(const std::string& id, std::size_t at) {
    const std::string path = folder / ("archive/" + id + ".jsonl.zst");
    std::string bytes = slurp(path);
    spill(path, bytes.replace(at, 4, "XXXX"));
    store = open();
  }
  // Nothing of p can be removed, to the trash or permanently, while a session exists that may share its history.
  void expectKept(ErrorCode code, const std::string& sharer) {
    for (const Error& error : {refused(store->trashSession("p")), refused(store->deleteSession("p"))}) {
      EXPECT_EQ(error.code, code);
      EXPECT_NE(error.message.find(sharer), std::string::npos) << error.message;
      EXPECT_FALSE(error.hint.empty());
    }
    EXPECT_EQ(idsOf(*store, "p"), (Ids{"e1", "e2", "e3"}));
  }
};

TEST_F(RemovalTest, AForkIsOneThoughItsHeaderIsDamaged) {
  damage(logPath("f"), R"("format":1)", R"("format":7)");
  expectKept(ErrorCode::HasForks, "f");
  EXPECT_EQ(must(store->forksOf("p")), (Ids{"f"}));
  const std::string before = slurp(logPath("f"));
  EXPECT_EQ(refused(store->trashSession("p", {.detachForks = true})).code, ErrorCode::Damaged);
  EXPECT_EQ(slurp(logPath("f")), before) << "it cannot get its own copy";
}

TEST_F(RemovalTest, AForkOfWhichNothingElseCanBeReadIsOne) {
  std::string bytes = slurp(logPath("f"));
  spill(logPath("f"), bytes.substr(0, bytes.find('\n') - 20));
  store = open();
  expectKept(ErrorCode::HasForks, "f");
}

TEST_F(RemovalTest, ASessionThatMayBeAForkKeepsAll) {
  damage(logPath("f"), R"("parentSession")", R"("parentSessiom")");
  expectKept(ErrorCode::Damaged, "f");
  EXPECT_EQ(refused(store->trashSession("p", {.detachForks = true})).code, ErrorCode::Damaged);
}

// The damaged part may be the name of the parent.
TEST_F(RemovalTest, AParentThatIsNoSessionIsNotBelieved) {
  damage(logPath("f"), R"("parentSession":{"sessionId":"p")", R"("parentSession":{"sessionId":"q")");
  expectKept(ErrorCode::Damaged, "f");
  must(store->createSession({.sessionId = "q"}));
  expectKept(ErrorCode::Damaged, "f");
}

TEST_F(RemovalTest, ADamagedForkOfAnotherSessionIsInNobodysWay) {
  fill("o", 1);
  damage(logPath("f"), R"("format":1)", R"("format":7)");
  must(store->trashSession("o"));
}

TEST_F(RemovalTest, ASessionThatWasNeverUsedGoesWithoutALookAtOthers) {
  damage(logPath("f"), R"("parentSession")", R"("parentSessiom")");
  must(store->createSession({.sessionId = "empty"}));
  const std::string tail = must(store->sessionState("empty")).tailId;
  must(store->maintenance().remove({.sessionId = "empty", .expectedTail = tail}));
  EXPECT_EQ(refused(store->sessionState("empty")).code, ErrorCode::NotFound);
  must(store->createSession({.sessionId = "used"}));
  const std::string before = must(store->sessionState("used")).tailId;
  must(store->appendSessionEntries("used", {message("kept", "u1")}));
  EXPECT_EQ(refused(store->maintenance().remove({.sessionId = "used", .expectedTail = before})).code,
            ErrorCode::Conflict);
  EXPECT_EQ(refused(store->maintenance().remove({.sessionId = "used", .expectedTail = "u1"})).code, ErrorCode::Damaged);
}

// Other sessions may share history through a fork that has no own entries.
TEST_F(RemovalTest, AForkThatWasNeverUsedMayHaveForksOfItsOwn) {
  must(store->branchFromEntry("p", "e2", {.sessionId = "between"}));
  must(store->branchFromEntry("between", "e2", {.sessionId = "last"}));
  const Removal removal{.sessionId = "between", .expectedTail = must(store->sessionState("between")).tailId};
  EXPECT_EQ(refused(store->maintenance().remove(removal)).code, ErrorCode::HasForks);
  EXPECT_EQ(idsOf(*store, "last"), (Ids{"e1", "e2"}));
}

TEST_F(RemovalTest, AnArchiveThatCannotBeReadMayBeAFork) {
  must(store->archiveSession("f"));
  const std::string packed = slurp(folder / "archive/f.jsonl.zst");
  for (const std::size_t at : {std::size_t{20}, packed.size() - 4}) {
    damageArchive("f", at);
    expectKept(at == 20 ? ErrorCode::Damaged : ErrorCode::HasForks, "f");
    must(store->trashSession("f"));
    must(store->restoreSession(must(store->listTrash()).front().trashId));
    spill(folder / "archive/f.jsonl.zst", packed);
  }
}

// There is always a way to remove the sessions, and a way back.
TEST_F(RemovalTest, WhatCannotBeReadGoesFirst) {
  must(store->createSession({.sessionId = "g"}));
  damage(logPath("g"), "session_header", "session_headex");
  damage(logPath("f"), R"("parentSession")", R"("parentSessiom")");
  const std::string before = slurp(logPath("f"));
  const TrashedSession g = must(store->trashSession("g"));
  const TrashedSession f = must(store->trashSession("f"));
  EXPECT_EQ(refused(store->deleteSession("p")).code, ErrorCode::Damaged) << "one in the trash may share it as well";
  const TrashedSession p = must(store->trashSession("p"));
  EXPECT_EQ(refused(store->emptyTrash({p.trashId})).code, ErrorCode::Damaged);
  must(store->restoreSession(f.trashId));
  EXPECT_EQ(slurp(logPath("f")), before);
  EXPECT_EQ(refused(store->emptyTrash({p.trashId, g.trashId})).code, ErrorCode::Damaged)
      << "nor is it safe from one that lives";
  EXPECT_EQ(must(store->listTrash()).size(), 2U);
  must(store->restoreSession(p.trashId));
  EXPECT_EQ(idsOf(*store, "p"), (Ids{"e1", "e2", "e3"}));
  must(store->trashSession("f"));
  must(store->trashSession("p"));
  std::vector<std::string> all;
  for (const TrashedSession& each : must(store->listTrash())) all.push_back(each.trashId);
  must(store->emptyTrash(all));
  EXPECT_TRUE(must(store->listTrash()).empty());
}

TEST_F(RemovalTest, AForkInTheTrashIsOneThoughItsHeaderIsDamaged) {
  const TrashedSession f = must(store->trashSession("f"));
  damage(folder / ("trash/" + f.trashId + ".jsonl"), R"("format":1)", R"("format":7)");
  EXPECT_EQ(refused(store->deleteSession("p")).code, ErrorCode::HasForks);
  const TrashedSession p = must(store->trashSession("p"));
  EXPECT_EQ(refused(store->emptyTrash({p.trashId})).code, ErrorCode::HasForks);
}

TEST_F(RemovalTest, FilesWithoutAHeaderAreInNobodysWay) {
  must(store->deleteSession("f"));
  spill(logPath("empty"), "");
  spill(logPath("draft"),
        "\n"
        R"({"id":"d1","type":"message","payload":{}})"
        "\n");
  must(store->trashSession("p"));
}

// A second line with the same id is not read, and so would not be copied.
TEST_F(RemovalTest, DetachingLosesNoSecondLineOfAnId) {
  std::string line;
  const std::string bytes = slurp(logPath("f"));
  const auto last = findSeal(std::string_view(bytes).substr(bytes.rfind('\n', bytes.size() - 2) + 1,
                                                            bytes.size() - 2 - bytes.rfind('\n', bytes.size() - 2)));
  ASSERT_TRUE(last);
  appendSealedLine(line,
                   R"({"id":"f1","parentId":"e2","type":"message","timestamp":"2026-11-14T23:47:00.862Z",)"
                   R"("payload":{"precious":1}})",
                   last->digits, 1, 1);
  spill(logPath("f"), bytes + line);
  store = open();
  ASSERT_EQ(must(store->verifySession("f")).problemCount, 1U);
  const Error error = refused(store->trashSession("p", {.detachForks = true}));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  EXPECT_NE(error.message.find(std::to_string(bytes.size())), std::string::npos) << error.message;
  EXPECT_EQ(slurp(logPath("f")), bytes + line);
  EXPECT_EQ(idsOf(*store, "p").size(), 3U);
}

// Half of a branch is not a copy of it.
TEST_F(RemovalTest, DetachingIsRefusedWhenTheSharedBranchIsDamaged) {
  must(store->appendSessionEntries("p", {message("end", "end")}));
  for (const std::string at : {"m1", "m2"}) {
    const std::string good = slurp(logPath("p"));
    damage(logPath("p"), at, "XX");
    const std::string before = slurp(logPath("f"));
    for (const Error& error : {refused(store->trashSession("p", {.detachForks = true})),
                               refused(store->deleteSession("p", {.detachForks = true}))}) {
      EXPECT_EQ(error.code, ErrorCode::Damaged);
      EXPECT_TRUE(error.message.contains("e" + at.substr(1))) << error.message;
      EXPECT_TRUE(error.hint.contains("bough verify p")) << error.hint;
    }
    EXPECT_EQ(slurp(logPath("f")), before);
    spill(logPath("p"), good);
    store = open();
  }
  must(store->trashSession("p", {.detachForks = true}));
  EXPECT_EQ(idsOf(*store, "f", {.type = "message"}), (Ids{"e1", "e2", "f1"}));
}

class UnusedAttachments : public StoreTest {
 protected:
  UnusedAttachments() {
    fill("s", 1);
    must(store->appendSessionEntries("s", {message(std::string(300'000, 'x'), "big")}));
    must(store->appendSessionEntries("s", {message("end", "end")}));
    std::string bytes = slurp(logPath("s"));
    bytes[bytes.find("$attachment") + 30] ^= 1;
    spill(logPath("s"), bytes);
    store = open();
  }
};

TEST_F(UnusedAttachments, StayWhileADamagedSessionMayNameThem) {
  for (const bool trashed : {false, true}) {
    if (trashed) must(store->trashSession("s"));
    const Error error = refused(store->findUnusedAttachments());
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_NE(error.message.find("s"), std::string::npos);
    EXPECT_EQ(error.hint.find("repair"), std::string::npos) << "which does not help: " << error.hint;
  }
  must(store->emptyTrash({must(store->listTrash()).front().trashId}));
  EXPECT_EQ(must(store->findUnusedAttachments()).size(), 1U);
}

// A damaged last line looks torn; a repair or an append sets it aside.
class AttachmentsOfATail : public StoreTest {
 protected:
  AttachmentsOfATail() {
    fill("s", 1);
    must(store->appendSessionEntries("s", {message(std::string(300'000, 'x'), "big")}));
  }
  void damageTail() {
    std::string bytes = slurp(logPath("s"));
    bytes[bytes.rfind("message")] ^= 1;
    spill(logPath("s"), bytes);
    store = open();
  }
};

TEST_F(AttachmentsOfATail, StayWhileItIsThere) {
  damageTail();
  EXPECT_TRUE(refused(store->findUnusedAttachments()).hint.contains("bough repair s"));
  must(store->trashSession("s"));
  EXPECT_EQ(refused(store->findUnusedAttachments()).code, ErrorCode::Damaged);
}

TEST_F(AttachmentsOfATail, StayWhenItIsSetAside) {
  damageTail();
  EXPECT_GT(must(store->repairSession("s")).tornBytes, 0U);
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
  const TrashedSession moved = must(store->trashSession("s"));
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
  must(store->emptyTrash({moved.trashId}));
  EXPECT_EQ(must(store->findUnusedAttachments()).size(), 1U);
}

// A torn tail may be a single line of any length. It is searched in parts, and a name may cross the border of two
// parts.
TEST_F(AttachmentsOfATail, StayWhereverInSomethingSetAsideTheirNameStands) {
  const std::string bytes = slurp(logPath("s"));
  const std::size_t at = bytes.find(R"("sha256":")") + 10;
  const std::string name = bytes.substr(at, 64);
  spill(logPath("s"), bytes.substr(0, bytes.rfind("\n", at) + 1));
  constexpr std::size_t kPart = std::size_t{1} << 20;
  for (const std::size_t before :
       {kPart - 200, kPart - 128, kPart - 100, kPart - 64, kPart - 1, kPart, 2 * kPart - 129}) {
    spill(folder / "sessions/s.torn", std::string(before, '.') + name + std::string(300, '.'));
    store = open();
    EXPECT_TRUE(must(store->findUnusedAttachments()).empty()) << before;
  }
  spill(folder / "sessions/s.torn", std::string(kPart, '.'));
  EXPECT_EQ(must(open()->findUnusedAttachments()).size(), 1U);
}

TEST_F(AttachmentsOfATail, StayWhenTheFileThatAMigrationReplacedNamesThem) {
  spill(folder / "sessions/s.v0", slurp(logPath("s")));
  const std::string bytes = slurp(logPath("s"));
  spill(logPath("s"), bytes.substr(0, bytes.find("\n") + 1));
  store = open();
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
  must(store->trashSession("s"));
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
}

}  // namespace
}  // namespace bough
