// Damage in the middle of a log affects only the damaged entries, and hides nothing before it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/model/unreadable.h"
#include "bough/store.h"
#include "log/format/line.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

class Unreadable : public testing::Test {
 protected:
  Unreadable() { open(); }

  void open() { store = must(SessionStore::open(folder.path().string())); }
  [[nodiscard]] std::string path() const { return folder.path().string() + "/sessions/s.jsonl"; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Overwrites the log with `damage`, `at` bytes after the start of an entry's line, while no process has the log open.
  std::uint64_t overwrite(const std::string& id, std::size_t at, const std::string& damage) {
    store.reset();
    std::string log = bytes();
    const std::size_t line = log.find(R"({"id":")" + id + '"');
    log.replace(line + at, damage.size(), damage);
    std::ofstream(path(), std::ios::binary) << log;
    open();
    return line;
  }
  void append(const std::string& id, const std::string& parentId, std::size_t size = 100) {
    Entry entry = message(std::string(size, 'x'), id);
    entry.parentId = parentId;
    must(store->appendSessionEntries("s", {entry}));
  }
  std::vector<Entry> branch(const std::string& leaf) { return must(store->loadSessionEntries("s", {.branch = leaf})); }
  static Ids idsOf(const std::vector<Entry>& entries) {
    Ids ids;
    for (const Entry& entry : entries) ids.push_back(entry.id);
    return ids;
  }
  void makeChain() {
    must(store->createSession({.sessionId = "s"}));
    append("a", "");
    append("b", "a");
    append("c", "b");
    append("d", "c");
    append("e", "d");
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

TEST_F(Unreadable, AChangedByteCostsOneEntryAndTheBranchGoesOn) {
  makeChain();
  const std::uint64_t offset = overwrite("c", 130, "#");
  const auto entries = branch("e");
  EXPECT_EQ(idsOf(entries), (Ids{"a", "b", "c", "d", "e"}));
  ASSERT_TRUE(isUnreadable(entries[2]));
  EXPECT_EQ(entries[2].parentId, "b");
  const std::size_t size = bytes().find('\n', offset) + 1 - offset;
  EXPECT_EQ(unreadableText(entries[2]),
            "[unreadable entry, " + std::to_string(size) + " bytes at offset " + std::to_string(offset) + "]");
  EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 6U);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 1U);
}

TEST_F(Unreadable, WhatIsAppendedLaterGoesOnFromTheHead) {
  makeChain();
  overwrite("c", 130, "#");
  must(store->appendSessionEntries("s", {message("x", "f")}));
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "c", "d", "e", "f"}));
  open();
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "c", "d", "e", "f"}));
}

TEST_F(Unreadable, AChildTellsTheIdOfALineWithoutABeginning) {
  makeChain();
  overwrite("c", 0, std::string(90, '#'));
  const auto entries = branch("e");
  EXPECT_EQ(idsOf(entries), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_TRUE(isUnreadable(entries[2]));
}

TEST_F(Unreadable, AChangedIdIsTheOneThatItsChildrenName) {
  makeChain();
  overwrite("c", 0, R"({"id":"X")");
  const auto entries = branch("e");
  EXPECT_EQ(idsOf(entries), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_TRUE(isUnreadable(entries[2]));
}

TEST_F(Unreadable, ALineThatNobodyNamesHasAnIdOfItsPlace) {
  makeChain();
  append("f", "b");
  overwrite("e", 0, std::string(90, '#'));
  const auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 7U);
  EXPECT_TRUE(entries[5].id.starts_with("unreadable:")) << entries[5].id;
  EXPECT_EQ(entries[5].parentId, "d");
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "f"}));
  EXPECT_EQ(idsOf(branch(entries[5].id)), (Ids{"a", "b", "c", "d", entries[5].id}));
}

TEST_F(Unreadable, TheHeadMayTellTheIdOfALineWithoutABeginning) {
  makeChain();
  append("x", "a");
  must(store->moveHead("s", "e"));
  fs::remove(folder / "sessions/s.idx");
  overwrite("e", 0, std::string(60, '\0'));
  EXPECT_EQ(idsOf(branch(must(store->sessionState("s")).headId)), (Ids{"a", "b", "c", "d", "e"}));
}

TEST_F(Unreadable, AHeadThatNamesNothingMovesNothing) {
  makeChain();
  must(store->moveHead("s", "b"));
  must(store->moveHead("s", "c"));
  fs::remove(folder / "sessions/s.idx");
  const std::string log = bytes();
  // Makes both lines one, which is taken for d because e names d as its parent.
  overwrite("c", 0, std::string(log.find(R"({"id":"e")") - log.find(R"({"id":"c")") - 1, '\0'));
  EXPECT_EQ(must(store->sessionState("s")).headId, "b");
  must(store->appendSessionEntries("s", {message("x", "f")}));
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "f"}));
  const VerifyReport report = must(store->verifySession("s"));
  EXPECT_TRUE(std::ranges::any_of(report.problems, [](const Problem& problem) {
    return problem.kind == ProblemKind::UnknownParent && problem.message.contains("head c");
  }));
}

TEST_F(Unreadable, ACopyOfALineDoesNotHideTheLine) {
  makeChain();
  const std::string log = bytes();
  const std::size_t c = log.find(R"({"id":"c")");
  const std::size_t d = log.find(R"({"id":"d")");
  overwrite("c", 0, log.substr(d, log.find('\n', d) + 1 - d) + log.substr(c));
  const auto entries = branch("e");
  EXPECT_EQ(idsOf(entries), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_FALSE(isUnreadable(entries[3]));
  EXPECT_EQ(must(store->loadSessionEntries("s"))[3].id, "unreadable:" + std::to_string(c));
}

TEST_F(Unreadable, LinesSideBySideAreBridgedTogether) {
  makeChain();
  overwrite("b", 130, "#");
  overwrite("c", 130, "#");
  EXPECT_EQ(idsOf(branch("e")), (Ids{"a", "b", "c", "d", "e"}));
  overwrite("b", 0, std::string(90, '#'));
  overwrite("c", 0, std::string(90, '#'));
  const auto entries = branch("e");
  ASSERT_EQ(entries.size(), 5U);
  EXPECT_TRUE(isUnreadable(entries[1]));
  EXPECT_EQ(entries[2].id, "c");
}

TEST_F(Unreadable, APlaceThatHidesSeveralEntriesStandsForAllOfThem) {
  makeChain();
  append("left", "b");
  append("after", "left");
  append("right", "d");
  const std::size_t size = bytes().find(R"({"id":"after")") - bytes().find(R"({"id":"d")");
  overwrite("d", 0, std::string(size - 1, '\0'));
  for (const char* leaf : {"after", "right"}) {
    const auto entries = branch(leaf);
    ASSERT_EQ(entries.size(), 5U) << leaf;
    EXPECT_EQ(entries[2].id, "c") << leaf;
    EXPECT_TRUE(isUnreadable(entries[3])) << leaf;
  }
}

TEST_F(Unreadable, ALineWhoseEndWasDestroyedHidesNotTheIdOfTheNextOne) {
  makeChain();
  const std::string fork = must(store->branchFromEntry("s", "b")).sessionId;
  must(store->appendSessionEntries(fork, {message("x", "own")}));
  const std::size_t end = bytes().find('\n', bytes().find(R"({"id":"b")")) - bytes().find(R"({"id":"b")");
  overwrite("b", end, "\v");
  const auto entries = branch("e");
  EXPECT_EQ(idsOf(entries), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_TRUE(isUnreadable(entries[1]) && isUnreadable(entries[2]));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries(fork, {.branch = "own"}))), (Ids{"a", "b", "own"}));
}

TEST_F(Unreadable, TheIndexBeforeTheDamageTellsTheParent) {
  makeChain();
  append("large", "e", 300'000);  // large enough for an index file
  append("left", "a");
  append("lost", "b");
  append("next", "lost");
  open();
  must(store->sessionState("s"));
  must(store->repairSession("s"));
  overwrite("lost", 0, std::string(90, '#'));
  EXPECT_EQ(idsOf(branch("next")), (Ids{"a", "b", "lost", "next"}));
  EXPECT_EQ(idsOf(branch("left")), (Ids{"a", "left"}));
}

TEST_F(Unreadable, AForkSharesTheBranchAcrossTheDamage) {
  makeChain();
  overwrite("c", 130, "#");
  const std::string fork = must(store->branchFromEntry("s", "e")).sessionId;
  must(store->appendSessionEntries(fork, {message("x", "own")}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries(fork, {.branch = "own"}))), (Ids{"a", "b", "c", "d", "e", "own"}));
}

TEST_F(Unreadable, ASealedLineThatIsNotJsonCostsThatEntry) {
  makeChain();
  store.reset();
  std::string log = bytes();
  const std::string text = log.substr(0, log.size() - 1);
  const auto seal = findSeal(std::string_view(text).substr(text.rfind('\n') + 1));
  ASSERT_TRUE(seal);
  const auto digits =
      appendSealedLine(log, R"({"id":"f","parentId":"e","type":"message","payload":{]})", seal->digits, 1, 1);
  appendSealedLine(log,
                   R"({"id":"g","parentId":"f","type":"message","timestamp":"2026-11-14T23:47:00.862Z","payload":{}})",
                   digits, 1, 1);
  std::ofstream(path(), std::ios::binary) << log;
  open();
  const auto entries = must(store->loadSessionEntries("s"));
  EXPECT_EQ(entries.back().id, "g");
  ASSERT_EQ(entries.size(), 8U);
  EXPECT_TRUE(isUnreadable(entries[6]));
  EXPECT_EQ(entries[6].id, "f");
  EXPECT_EQ(idsOf(branch("g")), (Ids{"a", "b", "c", "d", "e", "f", "g"}));
  EXPECT_EQ(must(store->sessionState("s")).problemCount, 1U);
}

TEST_F(Unreadable, ASealedLineThatIsNotJsonIsCountedByWhoeverLooksAtAllLines) {
  makeChain();
  store.reset();
  std::string log = bytes();
  const std::string text = log.substr(0, log.size() - 1);
  const auto seal = findSeal(std::string_view(text).substr(text.rfind('\n') + 1));
  ASSERT_TRUE(seal);
  appendSealedLine(log, R"({"id":"f","parentId":"e","type":"message","payload":{]})", seal->digits, 1, 1);
  std::ofstream(path(), std::ios::binary) << log;
  open();
  EXPECT_EQ(must(store->repairSession("s")).damagedLines, 1U);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 1U);
  EXPECT_EQ(must(store->loadSessionEntries("s", {.type = std::string(kUnreadableType)})).size(), 0U) << "not read yet";
  must(store->loadSessionEntries("s"));
  EXPECT_EQ(must(store->loadSessionEntries("s", {.type = std::string(kUnreadableType)})).size(), 1U);
}

// A batch that an index has counted was complete: a changed byte in the last batch is damage, and nothing is set aside.
TEST_F(Unreadable, ADamagedLastBatchIsNotTorn) {
  makeChain();
  std::vector<Entry> batch;
  for (int i = 0; i < 1000; ++i) batch.push_back(message(std::string(400, 'x'), "m" + std::to_string(i)));
  must(store->appendSessionEntries("s", batch));
  open();
  must(store->repairSession("s"));  // the index file exists now
  overwrite("m500", 200, "#");
  auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 1006U);
  EXPECT_TRUE(isUnreadable(entries[506]));
  EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 0U);
  EXPECT_GT(must(store->verifySession("s")).problemCount, 0U);
  must(store->appendSessionEntries("s", {message("x", "after")}));
  open();
  EXPECT_EQ(idsOf(branch("after")).size(), 1006U);
  EXPECT_FALSE(std::ifstream(folder.path().string() + "/sessions/s.torn").good());
}

// A log that was truncated within a batch that an index has counted: the rest of the batch is valid.
TEST_F(Unreadable, ACutBatchThatWasCountedIsNotTorn) {
  makeChain();
  std::vector<Entry> batch;
  for (int i = 0; i < 1000; ++i) batch.push_back(message(std::string(400, 'x'), "m" + std::to_string(i)));
  must(store->appendSessionEntries("s", batch));
  must(store->repairSession("s"));
  store.reset();
  std::string log = bytes();
  log.resize(log.find(R"({"id":"m900")") + 100);
  std::ofstream(path(), std::ios::binary) << log;
  open();
  EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 0U);
  EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 907U);  // m900 is unreadable
  must(store->appendSessionEntries("s", {message("x", "after")}));
  open();
  EXPECT_EQ(must(store->loadSessionEntries("s")).back().id, "after");
  EXPECT_FALSE(std::ifstream(folder.path().string() + "/sessions/s.torn").good());
}

TEST_F(Unreadable, AHeaderThatCannotBeReadCostsNoEntry) {
  makeChain();
  must(store->branchFromEntry("s", "c", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("x", "g")}));
  overwrite(must(store->loadSessionEntries("s", {.limit = 1})).front().id, 10, "#");
  EXPECT_EQ(idsOf(branch("e")), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("s", {.branch = "e", .types = {"message"}}))),
            (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "g"}))), (Ids{"a", "b", "c", "g"}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.type = "message"}))), (Ids{"a", "b", "c", "g"}));
  EXPECT_EQ(must(store->loadTree("f")).roots().size(), 1U);
  must(store->appendSessionEntries("f", {message("x", "h")}));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("f", {.branch = "h"}))), (Ids{"a", "b", "c", "g", "h"}));
}

// Only the lost entry would show whether it belongs to the shared history.
TEST_F(Unreadable, AForksHeadThatNamesALostEntryMovesNothing) {
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("x", "a"), message("x", "b")}));
  must(store->branchFromEntry("p", "b", {.sessionId = "s"}));
  append("c", "b");
  append("d", "b");
  must(store->moveHead("s", "a"));
  must(store->moveHead("s", "c"));
  overwrite("c", 0, R"({"id":"X")");
  EXPECT_EQ(must(store->sessionState("s")).headId, "a");
  EXPECT_EQ(must(store->loadTree("s")).head(), 1U);
  EXPECT_EQ(idsOf(must(store->buildConversationHistory("s"))), (Ids{"a"}));
  append("e", "a");
  must(store->moveHead("s", "a"));
  must(store->appendSessionEntries("s", {message("x", "f")}));
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "f"}));
}

TEST_F(Unreadable, AnAppendToAForkGoesOnFromTheHeadBeforeTheLostOne) {
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("x", "a"), message("x", "b")}));
  must(store->branchFromEntry("p", "b", {.sessionId = "s"}));
  append("c", "b");
  append("d", "b");
  must(store->moveHead("s", "c"));
  overwrite("c", 0, R"({"id":"X")");
  must(store->appendSessionEntries("s", {message("x", "e"), message("x", "f")}));
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "d", "e", "f"}));
}

// A repeated append is recognized by its id, wherever the head is now, and continues at its old place.
TEST_F(Unreadable, ARetriedAppendToAForkStaysWhereItWasWhenTheHeadIsLost) {
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("x", "a"), message("x", "b")}));
  must(store->branchFromEntry("p", "b", {.sessionId = "s"}));
  append("c", "b");
  must(store->appendSessionEntries("s", {message("y", "d")}));  // after c
  append("e", "a");
  must(store->moveHead("s", "c"));
  overwrite("c", 0, R"({"id":"X")");  // the head entry names a missing entry now
  const AppendResult again = must(store->appendSessionEntries("s", {message("y", "d")}));
  EXPECT_EQ(again.appendedCount, 0U);
  EXPECT_EQ(again.duplicateCount, 1U);
  EXPECT_EQ(must(store->loadEntry("s", "d")).parentId, "c");
  Entry named = message("y", "d");
  named.parentId = "c";  // as the first append reported
  EXPECT_EQ(must(store->appendSessionEntries("s", {named})).duplicateCount, 1U);
  // The rest of a batch whose beginning was stored continues after that beginning, not at the head.
  const AppendResult rest = must(store->appendSessionEntries("s", {message("y", "d"), message("z", "f")}));
  EXPECT_EQ(rest.appendedCount, 1U);
  EXPECT_EQ(must(store->loadEntry("s", "f")).parentId, "d");
  EXPECT_EQ(store->appendSessionEntries("s", {message("other", "d")}).error().code, ErrorCode::IdConflict);
}

// Appends the lost entry again, with the parent that it had.
TEST_F(Unreadable, ARetriedAppendOfTheLostHeadOfAForkIsAttachedWhereItWas) {
  must(store->createSession({.sessionId = "p"}));
  must(store->appendSessionEntries("p", {message("x", "a"), message("x", "b")}));
  must(store->branchFromEntry("p", "b", {.sessionId = "s"}));
  append("c", "b");
  append("d", "b");
  must(store->moveHead("s", "c"));
  must(store->appendSessionEntries("s", {message("y", "lost")}));  // after c
  append("last", "d");
  must(store->moveHead("s", "lost"));
  overwrite("lost", 0, std::string(20, '#'));
  EXPECT_EQ(must(store->sessionState("s")).headId, "last");
  Entry again = message("y", "lost");
  again.parentId = "c";
  EXPECT_EQ(must(store->appendSessionEntries("s", {again})).appendedCount, 1U);
  EXPECT_EQ(idsOf(branch("lost")), (Ids{"a", "b", "c", "lost"}));
}

// Without an index, nothing proves that the batch was complete.
TEST_F(Unreadable, ADamagedLastBatchThatNobodyCountedIsTorn) {
  makeChain();
  must(store->appendSessionEntries("s", {message("one", "one"), message("two", "two")}));
  overwrite("two", 100, "#");
  EXPECT_GT(must(store->sessionState("s")).trailingBytes, 0U);
}

// The last entry is damaged from some byte of its line on. An index has counted it, so it is not torn.
class UnreadableEnd : public Unreadable, public testing::WithParamInterface<std::size_t> {
 protected:
  UnreadableEnd() {
    makeChain();
    append("large", "e", 300'000);  // large enough for an index file
    append("last", "large");
    open();
    must(store->repairSession("s"));
    sound_ = bytes();
    overwrite("last", GetParam(), std::string(8, '#'));
    lost_ = must(store->sessionState("s")).headId;
  }
  // Restores the line; entries appended since then stay.
  void bringBack() {
    store.reset();
    std::string log = bytes();
    log.replace(0, sound_.size(), sound_);
    std::ofstream(path(), std::ios::binary) << log;
    open();
  }
  std::string lost_;

 private:
  std::string sound_;
};

TEST_P(UnreadableEnd, WhatIsAppendedAfterItIsItsChildOnceItCanBeReadAgain) {
  must(store->appendSessionEntries("s", {message("x", "f")}));
  must(store->moveHead("s", "a"));
  must(store->appendSessionEntries("s", {message("x", "side")}));
  must(store->moveHead("s", lost_));
  must(store->labelEntry("s", lost_, "here"));
  const std::string fork = must(store->branchFromEntry("s", lost_)).sessionId;
  must(store->appendSessionEntries(fork, {message("x", "own")}));
  bringBack();
  EXPECT_EQ(idsOf(branch("f")), (Ids{"a", "b", "c", "d", "e", "large", "last", "f"}));
  EXPECT_EQ(must(store->loadEntry("s", "f")).parentId, "last");
  EXPECT_EQ(must(store->sessionState("s")).problemCount, 0U);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(must(store->sessionState("s")).headId, "last");
  must(store->moveHead("s", "a"));
  must(store->restoreLabel("s", "here"));
  EXPECT_EQ(must(store->sessionState("s")).headId, "last");
  EXPECT_EQ(idsOf(must(store->loadSessionEntries(fork, {.branch = "own"}))),
            (Ids{"a", "b", "c", "d", "e", "large", "last", "own"}));
  EXPECT_EQ(must(store->verifySession(fork)).problemCount, 0U);
}

TEST_P(UnreadableEnd, ARedactionOfItHidesWhatCanBeReadAgain) {
  must(store->redactEntry("s", lost_, "me", "private"));
  bringBack();
  EXPECT_TRUE(must(store->loadEntry("s", "last")).redacted);
  EXPECT_TRUE(must(store->loadSessionEntries("s")).at(7).redacted);
}

// An erasure moves lines, and with them the places that identify damaged entries.
TEST_P(UnreadableEnd, AnErasureBeforeItMovesItsPlace) {
  must(store->appendSessionEntries("s", {message("x", "f")}));
  must(store->moveHead("s", "a"));
  must(store->moveHead("s", lost_));
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"b"}, .by = "me", .reason = "a request"}));
  EXPECT_EQ(branch("f").size(), 8U);
  EXPECT_EQ(must(store->sessionState("s")).problemCount, 1U);
  EXPECT_EQ(branch(must(store->sessionState("s")).headId).size(), 7U);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 1U);
}

INSTANTIATE_TEST_SUITE_P(Damaged, UnreadableEnd, testing::Values(0, 8, 24, 40, 70, 150));

TEST_F(Unreadable, NobodyAppendsSuchEntries) {
  makeChain();
  Entry entry = message("x", "f");
  entry.type = kUnreadableType;
  EXPECT_EQ(store->appendSessionEntries("s", {entry}).error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bough
