// An outdated writer is refused inside the append itself, on every kind of store.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "bough/store.h"
#include "support/entries.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

Entry note(const std::string& id) {
  Entry entry;
  entry.id = id;
  entry.type = "custom";
  entry.payload = R"({"n":1})";
  return entry;
}

class Turns : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "postgres" && !PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    location_ = kind == "files" ? folder_ / "store" : kind == "memory" ? "memory:" : freshStoreUrl();
    if (kind == "postgres") must(initPostgresStore(location_));
    stores_.push_back(must(SessionStore::open(location_)));
    must(stores_.front()->createSession({.sessionId = "s"}));
  }
  // Returns the session as another machine would open it; a store in memory has only one.
  Session session() {
    if (location_ != "memory:") stores_.push_back(must(SessionStore::open(location_)));
    return must(stores_.back()->session("s"));
  }

  TempFolder folder_;
  std::string location_;
  std::vector<std::unique_ptr<SessionStore>> stores_;
};

TEST_P(Turns, AnAppendOfAnEarlierTurnIsRefused) {
  const Session first = session();
  const Session second = session();
  const std::uint64_t mine = must(first.beginTurn());
  must(first.append({note("a")}, {.turn = mine}));
  const std::uint64_t theirs = must(second.beginTurn());
  EXPECT_GT(theirs, mine);
  const auto late = first.append({note("b")}, {.turn = mine});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Conflict);
  EXPECT_EQ(late.error().actualTail, "a");
  EXPECT_EQ(late.error().latestTurn, theirs);
  const auto lateAndElsewhere = first.append({note("b")}, {.expectedTail = "nowhere", .turn = mine});
  ASSERT_FALSE(lateAndElsewhere);
  EXPECT_EQ(lateAndElsewhere.error().latestTurn, theirs);  // the turn is checked before the tail
  EXPECT_FALSE(late.error().hint.empty());
  must(second.append({note("c")}, {.turn = theirs}));
  must(first.append({note("d")}));  // entries without a turn are not affected
  EXPECT_EQ(must(first.state()).tailId, "d");
}

TEST_P(Turns, WhatAnEarlierTurnHadStoredIsRecognized) {
  const Session it = session();
  const std::uint64_t mine = must(it.beginTurn());
  must(it.append({note("a")}, {.turn = mine}));
  must(it.beginTurn());
  EXPECT_EQ(must(it.append({note("a")}, {.turn = mine})).duplicateCount, 1U);
  EXPECT_FALSE(it.append({note("a"), note("b")}, {.turn = mine}));  // part of it is new
}

TEST_P(Turns, AForkHasTurnsOfItsOwnAndDetachingKeepsThem) {
  const Session it = session();
  must(it.append({note("a")}));
  const Session fork = must(it.fork("a", {.sessionId = "f"}));
  const std::uint64_t early = must(fork.beginTurn());
  const std::uint64_t late = must(fork.beginTurn());
  must(it.append({note("b")}, {.turn = must(it.beginTurn())}));
  must(stores_.back()->maintenance().detach("f"));
  EXPECT_FALSE(fork.append({note("x")}, {.turn = early}));
  EXPECT_TRUE(fork.append({note("y")}, {.turn = late}));
}

TEST_P(Turns, ASessionThatIsGoneHasNoTurns) {
  const Session it = session();
  must(it.beginTurn());
  must(stores_.back()->trashSession("s"));
  const auto turn = it.beginTurn();
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().code, ErrorCode::NotFound);
}

TEST_P(Turns, ALeaseKeepsOthersOutUntilItIsGivenBack) {
  const Session first = session();
  const Session second = session();
  const std::uint64_t mine = must(first.leaseTurn(600'000));
  const auto theirs = second.leaseTurn(600'000);
  ASSERT_FALSE(theirs);
  EXPECT_EQ(theirs.error().code, ErrorCode::Busy);
  EXPECT_TRUE(theirs.error().message.contains("in the middle of a turn")) << theirs.error().message;
  EXPECT_TRUE(theirs.error().hint.contains("its lease ends in")) << theirs.error().hint;
  must(first.append({note("a")}, {.turn = mine}));  // the refused attempt did not end another turn
  must(first.renewTurn(mine, 600'000));
  EXPECT_FALSE(second.leaseTurn(1));
  must(first.renewTurn(mine, 0));
  const std::uint64_t next = must(second.leaseTurn(600'000));
  EXPECT_GT(next, mine);
  const auto late = first.renewTurn(mine, 600'000);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Conflict);
  EXPECT_EQ(late.error().latestTurn, next);
  EXPECT_FALSE(first.append({note("b")}, {.turn = mine}));
}

TEST_P(Turns, TheLeaseOfWhoeverDiedEndsByItself) {
  const Session first = session();
  const Session second = session();
  const std::uint64_t mine = must(first.leaseTurn(50));  // and never used again
  auto next = second.leaseTurn(50);
  while (!next) {
    ASSERT_EQ(next.error().code, ErrorCode::Busy);
    EXPECT_TRUE(next.error().retryable);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    next = second.leaseTurn(50);
  }
  EXPECT_GT(*next, mine);
  EXPECT_FALSE(first.append({note("a")}, {.turn = mine}));
}

TEST_P(Turns, WhoTakesOverEndsALease) {
  const Session first = session();
  const std::uint64_t mine = must(first.leaseTurn(600'000));
  const std::uint64_t forced = must(session().beginTurn());
  EXPECT_GT(forced, mine);
  EXPECT_GT(must(session().leaseTurn(600'000)), forced);
}

TEST_P(Turns, ALeaseStaysWithASessionThatIsDetached) {
  const Session it = session();
  must(it.append({note("a")}));
  const Session fork = must(it.fork("a", {.sessionId = "f"}));
  const std::uint64_t mine = must(fork.leaseTurn(600'000));
  must(stores_.back()->maintenance().detach("f"));
  EXPECT_FALSE(fork.leaseTurn(600'000));
  must(fork.renewTurn(mine, 0));
  EXPECT_TRUE(fork.leaseTurn(600'000));
}

TEST_P(Turns, LeasesThatMakeNoSenseAreRefused) {
  const Session it = session();
  for (const std::uint64_t ms : {std::uint64_t{0}, std::uint64_t{3'600'001}, std::uint64_t{1} << 63}) {
    const auto refused = it.leaseTurn(ms);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  }
  EXPECT_FALSE(it.renewTurn(0, 10));
  EXPECT_FALSE(it.renewTurn(99, 10));  // a turn that never began
}

TEST_P(Turns, ANumberAboveEveryTurnIsNoEarlierOne) {
  const Session it = session();
  must(it.beginTurn());
  for (const std::uint64_t turn : {std::uint64_t{INT64_MAX}, std::uint64_t{1} << 63, UINT64_MAX}) {
    must(it.append({note("a" + std::to_string(turn)), note("b" + std::to_string(turn))}, {.turn = turn}));
    Entry made = note("");
    must(it.append({made}, {.turn = turn}));
    EXPECT_EQ(it.renewTurn(turn, 10).error().code, ErrorCode::Conflict) << turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Turns, testing::Values("files", "memory", "postgres"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace bough
