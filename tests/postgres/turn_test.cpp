// A stale writer is refused inside the append itself, on every kind of store.

#include <gtest/gtest.h>

#include <filesystem>

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
  // As another machine has it; a store in memory has only one.
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
  EXPECT_EQ(lateAndElsewhere.error().latestTurn, theirs);  // the turn comes before the tail
  EXPECT_FALSE(late.error().hint.empty());
  must(second.append({note("c")}, {.turn = theirs}));
  must(first.append({note("d")}));  // what belongs to no turn is not concerned
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

INSTANTIATE_TEST_SUITE_P(Stores, Turns, testing::Values("files", "memory", "postgres"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace bough
