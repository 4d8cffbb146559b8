// A batch that was counted once was complete. Later errors in it are damage, not a torn tail.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/model/unreadable.h"
#include "bough/catalog.h"
#include "bough/torn.h"
#include "store_support.h"

namespace bough {
namespace {

class Counted : public StoreTest {
 protected:
  void SetUp() override {
    fill("s", 3);
    whole_ = slurp(logPath("s"));
  }

  void count() const { must(must(Catalog::open(*store))->catchUp()); }
  // Changes a byte in the middle entry of the only batch after the header, while no process has the log open.
  void damage(const std::string& word = "m2", const std::string& damaged = "#2") {
    store.reset();
    std::string log = whole_;
    log.replace(log.find(word), damaged.size(), damaged);
    spill(logPath("s"), log);
    store = open();
  }
  // Turns the catalog into one of an older version.
  void makeCatalogOlder() const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "catalog.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, "PRAGMA user_version = 1", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
  void cutAfter(int lines) {
    store.reset();
    std::size_t end = 0;
    for (int i = 0; i < lines; ++i) end = whole_.find('\n', end) + 1;
    spill(logPath("s"), whole_.substr(0, end));
    store = open();
  }
  // e1 and e3 exist, e2 is an unreadable entry, nothing was set aside, and the log accepts new entries.
  void expectDamage() {
    const auto entries = must(store->loadSessionEntries("s", {.branch = "e3"}));
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_TRUE(isUnreadable(entries[1]));
    EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 0U);
    must(store->appendSessionEntries("s", {message("more", "e4")}));
    EXPECT_EQ(tornBytes(*store, "s"), 0U);
    EXPECT_TRUE(slurp(logPath("s")).starts_with(whole_.substr(0, whole_.find("m2"))));
    const auto report = must(store->verifySession("s"));
    EXPECT_GT(report.problemCount, 0U);
    for (const Problem& problem : report.problems) EXPECT_NE(problem.kind, ProblemKind::Torn);
    store = open();
    EXPECT_EQ(must(store->loadSessionEntries("s", {.branch = "e4"})).size(), 4U);
  }

  std::string whole_;
};

TEST_F(Counted, WithoutAProofABatchInDoubtIsSetAside) {
  damage();
  must(store->appendSessionEntries("s", {message("more", "e4")}));
  EXPECT_GT(tornBytes(*store, "s"), 0U);
  EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 2U);
}

TEST_F(Counted, ByACatalogRow) {
  count();
  damage();
  expectDamage();
}

TEST_F(Counted, ByACatalogRowEvenWhenTheLastLineIsHit) {
  count();
  damage("m3", "#3");
  must(store->appendSessionEntries("s", {message("more", "e4")}));
  EXPECT_EQ(tornBytes(*store, "s"), 0U);
  EXPECT_EQ(must(store->loadSessionEntries("s", {.branch = "e2"})).size(), 2U);
}

TEST_F(Counted, ByACatalogRowForRepairToo) {
  count();
  damage();
  EXPECT_EQ(must(store->repairSession("s")).tornBytes, 0U);
  expectDamage();
}

// The rows of a catalog of another version are read again, but its counts are kept.
TEST_F(Counted, ByARowOfAnOlderCatalog) {
  count();
  makeCatalogOlder();
  damage();
  must(Catalog::open(*store));
  expectDamage();
  EXPECT_TRUE(must(must(Catalog::open(*store))->check(true)).empty());
}

TEST_F(Counted, ByARowOfAnOlderCatalogThatWasReadAgain) {
  count();
  makeCatalogOlder();
  damage();
  count();
  const auto catalog = must(Catalog::open(*store));
  const SessionSummary row = must(catalog->session("s"));
  EXPECT_EQ(row.condition, SessionCondition::Damaged);
  EXPECT_EQ(row.entries, 4U);
  expectDamage();
}

TEST_F(Counted, ByARowOfACatalogThatAnErasureEmptied) {
  must(store->createSession({.sessionId = "other"}));
  must(store->appendSessionEntries("other", {message("secret", "o1")}));
  count();
  must(store->maintenance().erase({.sessionId = "other", .entryIds = {"o1"}, .by = "me", .reason = "r"}));
  damage();
  expectDamage();
  count();
  EXPECT_EQ(must(must(Catalog::open(*store))->session("other")).condition, SessionCondition::Live);
}

// An erasure rewrites the log; damaged entries stay at their place.
TEST_F(Counted, ByACatalogRowForAnErasureToo) {
  count();
  damage();
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"e1"}, .by = "me", .reason = "r"}));
  EXPECT_EQ(tornBytes(*store, "s"), 0U);
  EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 0U);
  const auto entries = must(store->loadSessionEntries("s", {.branch = "e3"}));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_FALSE(entries[0].payload.contains("m1"));
  EXPECT_TRUE(isUnreadable(entries[1]));
  EXPECT_TRUE(entries[2].payload.contains("m3"));
  must(store->appendSessionEntries("s", {message("more", "e4")}));
  EXPECT_EQ(tornBytes(*store, "s"), 0U);
}

TEST_F(Counted, ByAnOpenIndexForRepairToo) {
  EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 4U);
  std::string log = whole_;
  log.replace(log.find("m2"), 2, "#2");
  spill(logPath("s"), log);
  EXPECT_EQ(must(store->repairSession("s")).tornBytes, 0U);
  expectDamage();
}

TEST_F(Counted, ByAFork) {
  for (const std::string entry : {"e1", "e2", "e3"}) {
    SCOPED_TRACE(entry);
    if (!store) store = open();
    must(store->branchFromEntry("s", entry, {.sessionId = "fork-" + entry}));
    damage();
    expectDamage();
    store.reset();
    std::filesystem::remove(logPath("fork-" + entry));
    spill(logPath("s"), whole_);
  }
}

TEST_F(Counted, ByAForkInTheTrash) {
  must(store->branchFromEntry("s", "e1", {.sessionId = "fork"}));
  must(store->trashSession("fork"));
  damage();
  expectDamage();
}

TEST_F(Counted, ByAForkOnlyTheBatchThatHoldsItsEntry) {
  must(store->branchFromEntry("s", "e1", {.sessionId = "fork"}));
  damage();
  store.reset();
  std::string torn = slurp(logPath("s"));
  const std::string line = whole_.substr(0, whole_.find('\n') + 1);
  spill(logPath("s"), torn + line.substr(0, 100));
  store = open();
  EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 100U);
  must(store->appendSessionEntries("s", {message("more", "e4")}));
  EXPECT_GT(tornBytes(*store, "s"), 100U);
  EXPECT_EQ(must(store->loadSessionEntries("s", {.branch = "e4"})).size(), 4U);
}

TEST_F(Counted, ByAnArchiveBesideTheLog) {
  must(store->archiveSession("s"));
  damage();
  expectDamage();
}

// The path of a session's folder may be any text, so the header may be long.
TEST_F(Counted, HoweverLongTheHeaderIs) {
  const std::string folderText(100'000, 'x');
  for (const bool byFork : {false, true}) {
    SCOPED_TRACE(byFork ? "by a fork" : "by a catalog row");
    const std::string id = byFork ? "forked" : "listed";
    must(store->createSession({.sessionId = id, .cwd = folderText}));
    must(store->appendSessionEntries(id, {message("m1", "e1"), message("m2", "e2"), message("m3", "e3")}));
    if (byFork) must(store->branchFromEntry(id, "e2", {.sessionId = "fork", .cwd = folderText}));
    if (!byFork) count();
    store.reset();
    std::string log = slurp(logPath(id));
    log.replace(log.find("m2"), 2, "#2");
    spill(logPath(id), log);
    store = open();
    must(store->appendSessionEntries(id, {message("more", "e4")}));
    EXPECT_EQ(tornBytes(*store, id), 0U);
    EXPECT_EQ(must(store->loadSessionEntries(id, {.branch = "e3"})).size(), 3U);
  }
}

TEST_F(Counted, NotByARowOfAnotherSessionOfTheSameName) {
  count();
  store.reset();
  std::filesystem::remove(logPath("s"));
  store = open();
  fill("s", 3);
  whole_ = slurp(logPath("s"));
  damage();
  must(store->appendSessionEntries("s", {message("more", "e4")}));
  EXPECT_GT(tornBytes(*store, "s"), 0U);
}

TEST_F(Counted, AShorterLogIsNamedUntilTheCatalogIsRebuilt) {
  must(store->appendSessionEntries("s", {message("m4", "e4")}));
  whole_ = slurp(logPath("s"));
  EXPECT_EQ(must(missingFromLog(*store, "s")), "");
  count();
  EXPECT_EQ(must(missingFromLog(*store, "s")), "");
  cutAfter(4);
  const std::string missing = "the catalog had counted 5 entries up to e4, and the log holds 4 without it";
  EXPECT_EQ(must(missingFromLog(*store, "s")), missing);
  count();  // the catalog reads the shorter log and remembers what is missing
  EXPECT_EQ(must(missingFromLog(*store, "s")), missing);
  const auto catalog = must(Catalog::open(*store));
  EXPECT_EQ(must(catalog->session("s")).condition, SessionCondition::Damaged);
  must(store->appendSessionEntries("s", {message("m5", "e5"), message("m6", "e6")}));
  must(catalog->catchUp());
  EXPECT_EQ(must(missingFromLog(*store, "s")),
            "the catalog had counted 5 entries up to e4, and the log holds 6 without it");
  EXPECT_EQ(must(catalog->session("s")).condition, SessionCondition::Damaged);
  EXPECT_TRUE(must(catalog->check(true)).empty());
  must(catalog->rebuild());
  EXPECT_EQ(must(missingFromLog(*store, "s")), "");
  EXPECT_EQ(must(catalog->session("s")).condition, SessionCondition::Live);
}

TEST_F(Counted, AShorterLogIsNamedByTheNextVersionOfTheCatalog) {
  must(store->appendSessionEntries("s", {message("m4", "e4")}));
  whole_ = slurp(logPath("s"));
  fill("gone", 2);
  count();
  cutAfter(4);
  std::filesystem::remove(logPath("gone"));
  makeCatalogOlder();
  count();
  const std::string missing = "the catalog had counted 5 entries up to e4, and the log holds 4 without it";
  EXPECT_EQ(must(missingFromLog(*store, "s")), missing);
  count();
  EXPECT_EQ(must(missingFromLog(*store, "s")), missing);
  const auto catalog = must(Catalog::open(*store));
  EXPECT_EQ(must(catalog->session("s")).condition, SessionCondition::Damaged);
  EXPECT_EQ(must(catalog->session("gone")).condition, SessionCondition::Missing);
  must(catalog->rebuild());
  EXPECT_EQ(must(missingFromLog(*store, "s")), "");
}

TEST_F(Counted, AShorterLogThatComesBackIsGood) {
  must(store->appendSessionEntries("s", {message("m4", "e4")}));
  whole_ = slurp(logPath("s"));
  count();
  cutAfter(4);
  count();
  store.reset();
  spill(logPath("s"), whole_);
  store = open();
  EXPECT_EQ(must(missingFromLog(*store, "s")), "");
  count();
  EXPECT_EQ(must(must(Catalog::open(*store))->session("s")).condition, SessionCondition::Live);
}

}  // namespace
}  // namespace bough
