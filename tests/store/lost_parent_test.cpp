// A fork whose parent is not in the store any more: copied without it, or removed by hand.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bough
