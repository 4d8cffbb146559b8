#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "store/file/file_backend.h"
#include "store/store_support.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

TEST_F(StoreTest, AParentStaysWhileItIsForked) {
  fill("p", 1);
  auto backend = must(FileBackend::open(folder.path().string(), {}, jsonEntrySerializer(), systemEnvironment()));
  auto hold = must(backend->pin("p", "e1"));
  const auto hasty = open({.lockTimeoutMs = 1});
  EXPECT_EQ(refused(hasty->trashSession("p")).code, ErrorCode::Busy);
  hold.reset();
  must(hasty->trashSession("p"));
}

TEST_F(StoreTest, TheShapeOfAForkBeginsWithTheRootThatItShares) {
  fill("p", 3);
  must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("x", "f1"), message("y", "f2")}));
  const auto backend = must(makeFileBackend(folder.path().string()));
  const SessionOutline outline = must(must(backend->open("f"))->shape()).outline;
  EXPECT_EQ(outline.kinds.size(), 5U);
  EXPECT_EQ(outline.head, 4U);
  EXPECT_EQ(outline.walkUp(4, [](Sequence, Sequence) {}), kNoSequence);
  ASSERT_FALSE(outline.jumps.empty());
  EXPECT_EQ(outline.jumps.front().sequence, 1U) << "e1 does not follow the header of the fork";
  EXPECT_EQ(outline.jumps.front().parent, kNoSequence);
}

// The cost of a fork does not depend on the size of its parent.
TEST_F(StoreTest, AForkOfAnEarlierBatchLeavesItsParentAlone) {
  fill("p", 1);
  must(store->appendSessionEntries("p", {message("x", "last1"), message("y", "last2")}));
  const auto past = std::filesystem::last_write_time(logPath("p")) - std::chrono::hours(1);
  std::filesystem::last_write_time(logPath("p"), past);
  must(open()->branchFromEntry("p", "e1", {.sessionId = "early"}));
  EXPECT_EQ(std::filesystem::last_write_time(logPath("p")), past);
  must(open()->branchFromEntry("p", "last1", {.sessionId = "late"}));
  EXPECT_GT(std::filesystem::last_write_time(logPath("p")), past) << "whose sync may have failed is written anew";
}

// Deeper than the number of sessions that a store keeps open.
TEST_F(StoreTest, ForksNestDeeply) {
  constexpr int kDepth = 150;
  fill("f0", 2);
  for (int i = 1; i <= kDepth; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    const std::string id = "f" + std::to_string(i);
    must(store->branchFromEntry(before, must(store->sessionState(before)).headId, {.sessionId = id}));
    must(store->appendSessionEntries(id, {message("x", "x" + std::to_string(i))}));
  }
  const std::string last = "f" + std::to_string(kDepth);
  EXPECT_EQ(must(store->loadSessionEntries(last)).size(), 1U + 2 + kDepth);
  must(store->appendSessionEntries(last, {message("y", "y")}, {.durability = Durability::Buffered}));
  must(store->flush());
  auto cursor = must(store->openCursor(last));
  std::vector<Entry> all;
  while (must(cursor.hasMore())) {
    for (Entry& entry : must(cursor.next(40))) all.push_back(std::move(entry));
  }
  EXPECT_EQ(all.size(), 1U + 2 + kDepth + 1);
  EXPECT_EQ(all.back().id, "y");
}

// A list opens all of them.
TEST_F(StoreTest, WhatForksShareIsNotKeptForAllOfThem) {
  must(store->createSession({.sessionId = "p"}));
  constexpr int kEntries = 100'000;
  constexpr int kBatch = 5'000;
  for (int at = 0; at < kEntries; at += kBatch) {
    std::vector<Entry> batch;
    for (int i = at; i < at + kBatch; ++i) batch.push_back(message("x", "e" + std::to_string(i)));
    must(store->appendSessionEntries("p", std::move(batch)));
  }
  const std::string last = "e" + std::to_string(kEntries - 1);
  const auto backend = must(FileBackend::open(folder.path().string(), {}, jsonEntrySerializer(), systemEnvironment()));
  std::vector<std::shared_ptr<StoredSession>> forks;
  for (int i = 0; i < 40; ++i) {
    const std::string id = must(store->branchFromEntry("p", last, {.sessionId = "f" + std::to_string(i)})).sessionId;
    forks.push_back(must(static_cast<StorageBackend&>(*backend).open(id)));
    EXPECT_EQ(must(forks.back()->state()).headId, last);
  }
  constexpr std::size_t kMost = std::size_t{18} << 20;
  EXPECT_GT(*backend->cachedBytes(), kMost / 2);
  EXPECT_LT(*backend->cachedBytes(), kMost);
  for (const auto& fork : forks) {
    const auto loaded = must(fork->load({.options = {.last = 1, .branch = last}}));
    EXPECT_EQ(loaded.entries.front().id, last);
  }
  const auto kept = backend->cachedBytes();
  forks.clear();
  EXPECT_LT(*kept, kMost);
}

TEST_F(StoreTest, AForkSharesABranchAndGoesItsOwnWay) {
  fill("s", 3);
  must(store->appendSessionEntries("s", {message("side", "side", "e1")}));
  must(store->branchFromEntry("s", "e2", {.sessionId = "f", .title = "t"}));
  EXPECT_EQ(must(store->sessionState("f")).headId, "e2");
  must(store->appendSessionEntries("f", {message("own", "f1")}));
  EXPECT_EQ(must(store->loadEntry("f", "f1")).parentId, "e2");
  EXPECT_EQ(must(store->loadSessionEntries("f", {.type = "message"})).size(), 3U);
  EXPECT_EQ(idsOf(*store, "f", {.branch = "f1"}), (Ids{"e1", "e2", "f1"}));
  EXPECT_EQ(idsOf(*store, "f", {.last = 2, .branch = "f1"}), (Ids{"e2", "f1"}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3", "side"}));
  EXPECT_EQ(must(store->forksOf("s")), (Ids{"f"}));
  must(store->moveHead("f", "e1"));
  EXPECT_EQ(must(open()->sessionState("f")).headId, "e1") << "the head moves into shared history";
}

TEST_F(StoreTest, AForkDoesNotSeeWhatItDoesNotShare) {
  fill("s", 3);
  must(store->appendSessionEntries("s", {message("side", "side", "e1")}));
  must(store->branchFromEntry("s", "e2", {.sessionId = "f"}));
  for (const std::string hidden : {"e3", "side"}) {
    EXPECT_EQ(refused(store->loadEntry("f", hidden)).code, ErrorCode::NotFound);
    EXPECT_EQ(refused(store->loadSessionEntries("f", {.branch = hidden})).code, ErrorCode::NotFound);
    EXPECT_EQ(refused(store->appendSessionEntries("f", {message("x", "x", hidden)})).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->moveHead("f", hidden)).code, ErrorCode::NotFound);
    EXPECT_EQ(refused(store->openCursor("f", hidden)).code, ErrorCode::NotFound);
  }
}

TEST_F(StoreTest, DuplicatesAreFoundInSharedHistory) {
  fill("s", 2);
  must(store->branchFromEntry("s", "e2", {.sessionId = "f"}));
  EXPECT_EQ(must(store->appendSessionEntries("f", {message("m1", "e1"), message("new", "n", "e2")})).duplicateCount,
            1U);
  EXPECT_EQ(refused(store->appendSessionEntries("f", {message("other", "e1")})).code, ErrorCode::IdConflict);
}

// A fork remembers its shared history between appends. When a session in between is rewritten, its entries get new
// numbers.
TEST_F(StoreTest, AForkKnowsItsHistoryThoughItIsRewrittenMeanwhile) {
  fill("a", 3);
  must(store->branchFromEntry("a", "e3", {.sessionId = "b"}));
  must(store->appendSessionEntries("b", {message("b", "b1"), message("b", "b2")}));
  must(store->branchFromEntry("b", "b1", {.sessionId = "c"}));
  must(store->appendSessionEntries("c", {message("c", "c1")}));
  EXPECT_EQ(must(store->appendSessionEntries("c", {message("m2", "e2"), message("b", "b1")})).duplicateCount, 2U);
  for (const bool elsewhere : {false, true}) {
    auto other = open();
    if (elsewhere) {
      must(other->deleteSession("b", {.detachForks = true}));
    } else {
      must(store->deleteSession("a", {.detachForks = true}));
    }
    EXPECT_EQ(must(store->appendSessionEntries("c", {message("m2", "e2"), message("b", "b1")})).duplicateCount, 2U);
    EXPECT_EQ(refused(store->appendSessionEntries("c", {message("x", "x", "b2")})).code, ErrorCode::InvalidArgument);
    must(store->appendSessionEntries("c", {message("y", elsewhere ? "y1" : "y2", "e1")}));
    EXPECT_EQ(idsOf(*store, "c", {.branch = "c1"}), (Ids{"e1", "e2", "e3", "b1", "c1"}));
  }
}

TEST_F(StoreTest, ForksOfForksReachAllTheWay) {
  fill("a", 2);
  must(store->branchFromEntry("a", "e2", {.sessionId = "b"}));
  must(store->appendSessionEntries("b", {message("b", "b1"), message("b", "b2")}));
  must(store->branchFromEntry("b", "b1", {.sessionId = "c"}));
  must(store->appendSessionEntries("c", {message("c", "c1")}));
  must(store->branchFromEntry("c", "e1", {.sessionId = "d"}));
  must(store->appendSessionEntries("d", {message("d", "d1")}));
  EXPECT_EQ(idsOf(*store, "c"), (Ids{"e1", "e2", "b1", "c1"}));
  EXPECT_EQ(idsOf(*store, "c", {.fromSequence = 2, .limit = 2}), (Ids{"e2", "b1"}));
  EXPECT_EQ(idsOf(*store, "c", {.last = 2}), (Ids{"b1", "c1"}));
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"e1", "d1"}));
  EXPECT_EQ(must(store->loadEntry("c", "e1")).id, "e1");
  EXPECT_EQ(must(store->verifySession("c")).problemCount, 0U);
}

TEST_F(StoreTest, DeletingWhatOthersShareIsRefusedWithTheirNames) {
  fill("s", 2);
  must(store->branchFromEntry("s", "e1", {.sessionId = "f1"}));
  must(store->branchFromEntry("s", "e2", {.sessionId = "f2"}));
  const Error error = refused(store->deleteSession("s"));
  EXPECT_EQ(error.code, ErrorCode::HasForks);
  EXPECT_TRUE(error.message.contains("f1") && error.message.contains("f2"));
  EXPECT_EQ(idsOf(*store, "f2"), (Ids{"e1", "e2"}));
  must(store->deleteSession("f1"));
  must(store->deleteSession("f2"));
  must(store->deleteSession("s"));
  EXPECT_TRUE(must(store->listSessions()).empty());
}

TEST_F(StoreTest, DetachedForksKeepEverythingTheyShowed) {
  fill("s", 3);
  must(store->appendSessionEntries("s", {message(std::string(300'000, 'x'), "big")}));
  must(store->branchFromEntry("s", "big", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("own", "f1")}));
  must(store->moveHead("f", "e2"));
  must(store->branchFromEntry("f", "e3", {.sessionId = "g"}));
  must(store->redactEntry("s", "e1", "a", "b"));
  const auto before = must(store->loadSessionEntries("f", {.branch = "f1"}));
  must(store->deleteSession("s", {.detachForks = true}));
  EXPECT_EQ(refused(store->loadSessionEntries("s")).code, ErrorCode::NotFound);
  const auto after = must(open()->loadSessionEntries("f", {.branch = "f1"}));
  ASSERT_EQ(idsOf(after), idsOf(before));
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].redacted, before[i].redacted);
    EXPECT_EQ(after[i].redacted || after[i].payload == before[i].payload, true);
    EXPECT_EQ(after[i].parentId, before[i].parentId);
  }
  EXPECT_TRUE(after[0].redacted);
  EXPECT_EQ(must(store->sessionState("f")).headId, "e2");
  EXPECT_FALSE(must(store->sessionState("f")).origin);
  EXPECT_EQ(idsOf(*store, "g"), (Ids{"e1", "e2", "e3"})) << "a fork of the fork reads on";
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
  EXPECT_EQ(must(store->verifySession("g")).problemCount, 0U);
}

// Entries that another process appends to a fork during the copy must be in the copy.
TEST_F(StoreTest, NothingAcknowledgedIsLostWhileAForkIsDetached) {
  fill("s", 200);
  for (int round = 0; round < 5; ++round) {
    const std::string parent = "p" + std::to_string(round);
    const std::string fork = "f" + std::to_string(round);
    must(store->createSession({.sessionId = parent}));
    must(store->appendSessionEntries(parent, {message("x", "root")}));
    must(store->branchFromEntry(parent, "root", {.sessionId = fork}));
    Ids acknowledged;
    std::atomic<bool> stop = false;
    std::thread writer([&] {
      auto other = open();
      for (int i = 0; !stop; ++i) {
        const std::string id = "w" + std::to_string(i);
        if (other->appendSessionEntries(fork, {message("x", id)})) acknowledged.push_back(id);
      }
    });
    must(store->deleteSession(parent, {.detachForks = true}));
    stop = true;
    writer.join();
    const auto entries = must(open()->loadSessionEntries(fork, {.type = "message"}));
    Ids expected = {"root"};
    expected.insert(expected.end(), acknowledged.begin(), acknowledged.end());
    EXPECT_EQ(idsOf(entries), expected);
  }
}

TEST_F(StoreTest, HostileOriginsLeadNowhere) {
  const auto plant = [&](const std::string& id, const std::string& session, const std::string& entry) {
    spill(logPath(id), R"({"id":"h","parentId":null,"type":"session_header","timestamp":"2026-01-01T00:00:00Z",)"
                       R"("payload":{"format":1,"sessionId":")" +
                           id + R"(","parentSession":{"sessionId":")" + session + R"(","entryId":")" + entry +
                           R"("}}})" + "\n" + R"({"id":"x)" + id + R"(","parentId":")" + entry +
                           R"(","type":"message","timestamp":"2026-01-01T00:00:00Z","payload":{}})" + "\n");
  };
  plant("up", "../../etc", "passwd");
  EXPECT_EQ(idsOf(*store, "up"), (Ids{"xup"}));
  EXPECT_EQ(refused(store->appendSessionEntries("up", {message("x")})).code, ErrorCode::NotFound);
  plant("self", "self", "xself");
  EXPECT_EQ(refused(store->loadSessionEntries("self")).code, ErrorCode::Damaged);
  plant("a", "b", "xb");
  plant("b", "a", "xa");
  EXPECT_EQ(refused(store->loadSessionEntries("a")).code, ErrorCode::Damaged);
  EXPECT_EQ(refused(store->loadSessionEntries("b", {.branch = "xb"})).code, ErrorCode::Damaged);
  plant("orphan", "gone", "x");
  // What is left can be read (lost_parent_test.cpp has more), but nothing can be appended.
  EXPECT_EQ(idsOf(*store, "orphan"), (Ids{"xorphan"}));
  const Error error = refused(store->appendSessionEntries("orphan", {message("x")}));
  EXPECT_EQ(error.code, ErrorCode::NotFound);
  EXPECT_TRUE(error.message.contains("gone"));
  EXPECT_TRUE(store->verifySession("orphan"));
}

// Damage affects only the damaged entries: the fork's own entries stay, and new ones can follow.
TEST_F(StoreTest, AForkPointThatWasCutOffLeavesTheForkReadable) {
  fill("p", 3);
  must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("own", "f1")}));
  must(store->branchFromEntry("f", "f1", {.sessionId = "g"}));
  must(store->branchFromEntry("p", "e2", {.sessionId = "bare"}));
  const std::string good = slurp(logPath("p"));
  spill(logPath("p"), good.substr(0, good.find('\n') + 1));
  store = open();
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"f1"}));
  EXPECT_EQ(idsOf(*store, "g", {.branch = "f1"}), (Ids{"f1"}));
  EXPECT_EQ(must(store->loadTree("f")).problems().size(), 1U);
  EXPECT_EQ(refused(store->loadEntry("f", "e2")).message, "session f has no entry e2");
  must(store->appendSessionEntries("f", {message("more", "f2")}));
  must(store->appendSessionEntries("g", {message("more", "g1")}));
  must(store->appendSessionEntries("bare", {message("more", "b1")}));
  EXPECT_EQ(must(store->loadEntry("bare", "b1")).parentId, "e2");
  EXPECT_FALSE(must(store->repairSession("f")).refusal);
  spill(logPath("p"), good);
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"e1", "e2", "f1", "f2"})) << "it is found again, without a new start";
  EXPECT_EQ(idsOf(*store, "bare"), (Ids{"e1", "e2", "b1"}));
}

TEST_F(StoreTest, AForkWithoutItsParentSaysWhichOneItIs) {
  fill("q", 1);
  must(store->branchFromEntry("q", "e1", {.sessionId = "p"}));
  must(store->branchFromEntry("p", "e1", {.sessionId = "f"}));
  std::filesystem::remove(logPath("q"));
  store = open();
  const Error error = refused(store->appendSessionEntries("f", {message("x", "x")}));
  EXPECT_EQ(error.code, ErrorCode::NotFound);
  EXPECT_TRUE(error.message.contains("there is no session q")) << error.message;
  EXPECT_TRUE(error.hint.contains("bough trash --restore")) << error.hint;
  EXPECT_TRUE(must(store->repairSession("f")).refusal);
}

TEST_F(StoreTest, AForkWhoseHistoryIsGoneIsNotGood) {
  fill("p", 2);
  must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
  const auto problem = [&] {
    store = open();
    const VerifyReport report = must(store->verifySession("f"));
    EXPECT_EQ(report.problemCount, 1U);
    return report.problems.empty() ? Problem() : report.problems.front();
  };
  std::filesystem::remove(logPath("p"));
  EXPECT_EQ(problem().kind, ProblemKind::UnknownParent);
  EXPECT_TRUE(problem().message.contains("there is no session p")) << problem().message;
  must(open()->createSession({.sessionId = "p"}));
  EXPECT_TRUE(problem().message.contains("entry e2 of session p")) << problem().message;
}

// Ids are unique in a session including its shared history. Only other tools write such a line.
TEST_F(StoreTest, AnIdOfTheSharedHistoryThatComesAgainIsSeen) {
  fill("p", 2);
  must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
  const std::string before = slurp(logPath("f"));
  const std::string after = before +
                            R"({"id":"e1","parentId":"e2","type":"message","timestamp":"2026-01-01T00:00:00Z",)"
                            R"("payload":{"precious":1}})"
                            "\n";
  spill(logPath("f"), after);
  store = open();
  const VerifyReport report = must(store->verifySession("f"));
  ASSERT_EQ(report.problemCount, 1U);
  const auto found = std::ranges::find(report.problems, ProblemKind::DuplicateId, &Problem::kind);
  ASSERT_NE(found, report.problems.end());
  EXPECT_EQ(found->offset, before.size());
  const Error error = refused(store->trashSession("p", {.detachForks = true}));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  EXPECT_TRUE(error.message.contains("e1")) << error.message;
  EXPECT_EQ(slurp(logPath("f")), after);
}

// A fork reads one entry, however large the parent is.
TEST(ForkCost, IsTheSameForASmallAndALargeParent) {
  const auto callsToFork = [](int entries, std::size_t payloadBytes, bool redactions) {
    SimFileSystem files;
    SimEnvironment world(files);
    const auto openStore = [&] {
      auto backend = must(FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()));
      return must(SessionStore::open(SessionStoreInit{.backend = backend, .options = {}}));
    };
    auto store = openStore();
    must(store->createSession({.sessionId = "s"}));
    for (int part = 0; part < entries; part += 500) {
      std::vector<Entry> batch;
      for (int i = part; i < std::min(entries, part + 500); ++i) {
        batch.push_back(message(std::string(payloadBytes, 'x'), "e" + std::to_string(i)));
        if (redactions && i % 2 == 0) {
          batch.push_back(entryOf("label", R"({"entryId":")" + batch.back().id + R"(","name":"x"})"));
        }
      }
      must(store->appendSessionEntries("s", batch));
    }
    store = openStore();  // like a new process, with the existing index
    (void)must(store->sessionState("s"));
    const std::uint64_t before = files.callCount();
    must(store->branchFromEntry("s", "e0", {.sessionId = "f"}));
    return files.callCount() - before;
  };
  const std::uint64_t tiny = callsToFork(1, 10, false);
  const std::uint64_t large = callsToFork(20'000, 100, true);
  const std::uint64_t heavy = callsToFork(1, 2'000'000, false);
  EXPECT_LE(large, tiny + 4) << "a block of records and one of the table more";
  EXPECT_LE(heavy, tiny);
}

}  // namespace
}  // namespace bough
