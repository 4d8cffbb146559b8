// A fork whose parent is not in the store: copied without its parent, or the parent's file was deleted.

#include <gtest/gtest.h>

#include "bough/catalog.h"
#include "bough/torn.h"
#include "store/store_support.h"

namespace bough {
namespace {

class LostParent : public StoreTest {
 protected:
  LostParent() {
    fill("p", 3);
    must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
    must(store->appendSessionEntries("f", {message("x", "f1"), message("y", "f2")}));
    must(store->close());
    std::filesystem::remove(logPath("p"));
    std::filesystem::remove(folder / "sessions/p.idx");
    store = open();
  }
};

TEST_F(LostParent, WhatIsLeftIsShownAndTheLossIsTold) {
  EXPECT_EQ(must(store->sessionState("f")).lostSession, "p");
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"f1", "f2"}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "f2"}))), (Ids{"f1", "f2"}));
  EXPECT_EQ(must(store->loadEntry("f", "f1")).id, "f1");
  EXPECT_FALSE(must(store->loadTree("f")).problems().empty());
  EXPECT_TRUE(must(store->labels("f")).empty());
  const auto report = must(store->verifySession("f"));
  EXPECT_GT(report.problemCount, 0U);
}

TEST_F(LostParent, NothingIsAppendedUntilItIsDetached) {
  const Error error = refused(store->appendSessionEntries("f", {message("z", "f3")}));
  EXPECT_EQ(error.code, ErrorCode::NotFound);
  EXPECT_TRUE(error.hint.contains("repair --detach")) << error.hint;
  EXPECT_EQ(refused(store->maintenance().detach("f")).code, ErrorCode::NotFound);

  must(store->maintenance().detachRest("f"));
  EXPECT_TRUE(must(store->sessionState("f")).lostSession.empty());
  EXPECT_EQ(must(store->sessionState("f")).headId, "f2");
  must(store->appendSessionEntries("f", {message("z", "f3")}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "f3"}))), (Ids{"f1", "f2", "f3"}));
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
}

TEST_F(LostParent, ItComesBackWhole) {
  const auto saved = slurp(logPath("f"));
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("m1", "e1"), message("m2", "e2")}));
  EXPECT_TRUE(must(store->sessionState("f")).lostSession.empty());
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"e1", "e2", "f1", "f2"}));
  EXPECT_EQ(slurp(logPath("f")), saved) << "reading changes nothing";
}

TEST_F(LostParent, MayBeAFileOfWhichNothingCanBeRead) {
  for (const std::string& bytes : {std::string(), std::string("garbage\n"), std::string(4096, '\0')}) {
    spill(logPath("p"), bytes);
    store = open();
    EXPECT_EQ(must(store->sessionState("f")).lostSession, "p");
    EXPECT_EQ(idsOf(*store, "f"), (Ids{"f1", "f2"}));
    EXPECT_GT(must(store->verifySession("f")).problemCount, 0U);
    const Error error = refused(store->appendSessionEntries("f", {message("z", "f3")}));
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_TRUE(error.hint.contains("repair --detach")) << error.hint;
  }
  must(store->maintenance().detachRest("f"));
  must(store->appendSessionEntries("f", {message("z", "f3")}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "f3"}))), (Ids{"f1", "f2", "f3"}));
}

TEST_F(LostParent, MayHaveANameThatIsNoId) {
  spill(logPath("f"), R"({"id":"h","parentId":null,"type":"session_header","timestamp":"2026-01-01T00:00:00Z",)"
                      R"("payload":{"format":1,"parentSession":{"sessionId":"../../p\u001b","entryId":"e2"}}})"
                      "\n"
                      R"({"id":"f1","parentId":"e2","type":"message","timestamp":"2026-01-01T00:00:00Z","payload":{}})"
                      "\n");
  store = open();
  EXPECT_EQ(must(store->sessionState("f")).lostSession, "../../p\x1b");
  EXPECT_EQ(idsOf(*store, "f"), Ids{"f1"});
  EXPECT_GT(must(store->verifySession("f")).problemCount, 0U);
  EXPECT_TRUE(refused(store->appendSessionEntries("f", {message("z", "f3")})).message.contains("session f is a fork"));
  must(store->maintenance().detachRest("f"));
  must(store->appendSessionEntries("f", {message("z", "f3")}));
}

// Marks of the fork on entries that are lost. A copy of the fork is checked like any new log.
class LostTargets : public StoreTest {
 protected:
  LostTargets() {
    fill("p", 2);
    must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
    Entry converted = message("secret", "c");
    converted.meta = R"({"migration":{"sources":[{"entryId":"e1"}]}})";
    must(store->appendSessionEntries("f", {message("x", "f1"), message("y", "f2"), converted}));
    for (const char* label : {"moved", "stays"}) must(store->labelEntry("f", "f1", label));
    must(store->labelEntry("f", "e1", "moved"));
    must(store->labelEntry("f", "e1", "gone"));
    must(store->appendSessionEntries("f", {entryOf(entry_type::kHead, R"({"entryId":"e1"})", "to-e1")}));
    must(store->appendSessionEntries("f", {message("side", "s1")}));
    must(store->redactEntry("f", "e1", "ada", "a secret"));
    must(store->redactEntry("f", "f1", "ada", "another"));
    Entry child = message("odd", "odd");
    child.parentId = must(store->loadSessionEntries("f", {.type = std::string(entry_type::kRedaction)})).front().id;
    must(store->appendSessionEntries("f", {child}));
    must(store->close());
    std::filesystem::remove(logPath("p"));
    std::filesystem::remove(folder / "sessions/p.idx");
    store = open();
  }
};

TEST_F(LostTargets, AreForgottenByWhatIsLeft) {
  must(store->maintenance().detachRest("f"));
  const auto labels = must(store->labels("f"));
  ASSERT_EQ(labels.size(), 1U) << "a name that was moved to what is gone does not come back";
  EXPECT_EQ(labels.front().name, "stays");
  EXPECT_EQ(must(store->sessionState("f")).headId, "odd");
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
  // The side branch began at a lost entry, as did the first entry.
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "s1"}))), Ids{"s1"});
  for (const char* hidden : {"c", "f1"}) {
    EXPECT_TRUE(must(store->loadEntry("f", hidden)).payload.contains(R"("by":"ada")")) << hidden;
  }
  EXPECT_FALSE(must(store->loadEntry("f", "f2")).redacted);
}

TEST_F(LostTargets, DoNotKeepItFromBeingCopied) {
  must(store->maintenance().detachRest("f"));
  StoreSide here = must(StoreSide::open(folder.path().string()));
  for (const bool sync : {false, true}) {
    StoreSide there = must(StoreSide::open("memory:"));
    if (sync) {
      must(syncSession(here, there, "f"));
    } else {
      must(copySession(here, there, "f"));
    }
    EXPECT_EQ(idsOf(*there.store, "f"), idsOf(*store, "f"));
    EXPECT_EQ(there.store->sessionState("f")->headId, "odd");
    EXPECT_TRUE(must(there.store->loadEntry("f", "c")).redacted);
  }
  must(store->branchFromEntry("f", "f2", {.sessionId = "g"}));
  must(store->maintenance().detach("g"));
}

// The redaction belongs to a session in between, which exists.
TEST_F(LostTargets, WhatWasConvertedFromThemStaysHiddenInForks) {
  must(store->branchFromEntry("f", "c", {.sessionId = "g"}));
  must(store->maintenance().detachRest("g"));
  EXPECT_TRUE(must(store->loadEntry("g", "c")).redacted);
  EXPECT_FALSE(must(store->loadEntry("g", "f2")).redacted);
}

// The parent exists, but the entry that the fork continues is missing: its line was cut out.
class LostEntry : public StoreTest {
 protected:
  LostEntry() {
    fill("p", 3);
    must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
    must(store->appendSessionEntries("f", {message("x", "f1")}));
    must(store->branchFromEntry("f", "f1", {.sessionId = "g"}));
    must(store->appendSessionEntries("g", {message("y", "g1")}));
    must(store->close());
  }
};

TEST_F(LostEntry, TheForkAndItsForksTellOfTheLoss) {
  std::string text = slurp(logPath("p"));
  const std::size_t begin = text.rfind('\n', text.find(R"("id":"e2")")) + 1;
  text.erase(begin, text.find('\n', begin) + 1 - begin);
  std::ofstream(logPath("p")) << text;
  store = open();
  for (const char* id : {"f", "g"}) EXPECT_EQ(must(store->sessionState(id)).lostSession, "p") << id;
  EXPECT_TRUE(must(store->sessionState("p")).lostSession.empty());
  EXPECT_EQ(idsOf(*store, "g"), (Ids{"f1", "g1"}));
  EXPECT_TRUE(must(store->verifySession("g")).problems.front().message.contains("entry e2 of session p"));
}

// Only manual edits make such lines.
TEST_F(LostEntry, RedactionsThatAreEachOthersParentsAreDropped) {
  std::filesystem::remove(logPath("p"));
  std::filesystem::remove(folder / "sessions/p.idx");
  std::ofstream log(logPath("f"), std::ios::app);
  for (const auto& [id, parent] : {std::pair("r1", "r1"), std::pair("r2", "r3"), std::pair("r3", "r2")}) {
    log << R"({"id":")" << id << R"(","parentId":")" << parent
        << R"(","timestamp":"2026-01-01T00:00:00.000Z","type":"redaction","payload":{"entryId":"e1"}})" << "\n"
        << R"({"id":"below-)" << id << R"(","parentId":")" << id
        << R"(","timestamp":"2026-01-01T00:00:00.000Z","type":"message","payload":{}})" << "\n";
  }
  log.close();
  store = open();
  must(store->maintenance().detachRest("f"));
  EXPECT_EQ(idsOf(*store, "f", {.type = "message"}), (Ids{"f1", "below-r1", "below-r2", "below-r3"}));
}

TEST_F(LostEntry, AForkOfAForkTellsThatTheFirstSessionIsLost) {
  std::filesystem::remove(logPath("p"));
  std::filesystem::remove(folder / "sessions/p.idx");
  store = open();
  for (const char* id : {"f", "g"}) EXPECT_EQ(must(store->sessionState(id)).lostSession, "p") << id;
}

// The redaction of a lost entry is dropped with it, which does not count as a loss.
TEST_F(StoreTest, WhatIsLeftOfAForkWithItsRedactionsIsWhole) {
  fill("p", 3);
  must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("x", "f1")}));
  for (const std::string entry : {"e1", "e2"}) must(store->redactEntry("f", entry, "me", "private"));
  must(must(Catalog::open(*store))->catchUp());
  must(store->close());
  std::filesystem::remove(logPath("p"));
  store = open();
  must(store->maintenance().detachRest("f"));
  EXPECT_EQ(must(missingFromLog(*store, "f")), "");
  const auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->session("f")).problem, "");
  EXPECT_EQ(idsOf(*store, "f").front(), "f1");
}

}  // namespace
}  // namespace bough
