// Operations on many sessions in one call: moving them to the trash, following them.

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "store/store_support.h"

namespace bough {
namespace {

class ManySessions : public testing::TestWithParam<bool> {
 protected:
  ManySessions() : store(must(SessionStore::open(GetParam() ? folder.path().string() : "memory:"))) {}

  Session make(const std::string& id) {
    Session session = must(store->create({.sessionId = id}));
    must(session.append({message("x", id + "-1")}));
    return session;
  }
  std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) {
    return store->maintenance().trash(removals);
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

TEST_P(ManySessions, AParentGoesTogetherWithItsForks) {
  const Session parent = make("p");
  const Session fork = must(parent.fork("p-1", {.sessionId = "f"}));
  must(fork.append({message("x", "f-1")}));
  must(fork.fork("f-1", {.sessionId = "g"}));
  EXPECT_EQ(trash({{.sessionId = "p"}}).front().error().code, ErrorCode::HasForks);
  for (const auto& moved : trash({{.sessionId = "p"}, {.sessionId = "g"}, {.sessionId = "f"}})) must(moved);
  EXPECT_TRUE(must(store->listSessions()).empty());
  EXPECT_EQ(must(store->listTrash()).size(), 3U);
}

TEST_P(ManySessions, AParentStaysWhenAForkThatShouldGoWithItStays) {
  const Session parent = make("p");
  const Session fork = must(parent.fork("p-1", {.sessionId = "f"}));
  const auto results = trash({{.sessionId = "p"}, {.sessionId = "f", .expectedTail = "of another time"}});
  EXPECT_EQ(refused(results[0]).code, ErrorCode::HasForks);
  EXPECT_EQ(refused(results[1]).code, ErrorCode::Conflict);
  EXPECT_EQ(must(store->listSessions()), (std::vector<std::string>{"f", "p"}));
}

TEST_P(ManySessions, OneThatWasUsedMeanwhileStays) {
  const Session used = make("used");
  const Session idle = make("idle");
  const Removal first{.sessionId = "used", .expectedTail = must(used.state()).tailId};
  const Removal second{.sessionId = "idle", .expectedTail = must(idle.state()).tailId};
  must(used.setTitle("still wanted"));
  const auto results = trash({first, second});
  EXPECT_EQ(refused(results[0]).code, ErrorCode::Conflict);
  must(results[1]);
  EXPECT_EQ(refused(store->maintenance().remove(first)).code, ErrorCode::Conflict);
  EXPECT_EQ(must(store->listSessions()), std::vector<std::string>{"used"});
}

TEST_P(ManySessions, OneThatIsNotThereKeepsNoOther) {
  make("a");
  const auto results = trash({{.sessionId = "missing"}, {.sessionId = "a"}});
  EXPECT_EQ(refused(results[0]).code, ErrorCode::NotFound);
  must(results[1]);
}

TEST_P(ManySessions, AreFollowedInOneCall) {
  const Session a = make("a");
  const Session b = make("b");
  auto follower = must(store->followSessions({{.sessionId = "a", .position = "a-1"}, {.sessionId = "b"}}));
  auto first = must(follower.next(60'000));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.front().sessionId, "b");
  EXPECT_EQ(first.front().entries.size(), 2U);
  std::thread writer([&] { must(a.append({message("later", "a-2")})); });
  auto later = must(follower.next(60'000));
  writer.join();
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later.front().sessionId, "a");
  EXPECT_EQ(later.front().entries.back().id, "a-2");
  EXPECT_EQ(follower.position("a"), "a-2");
  EXPECT_TRUE(must(follower.next(0)).empty());
}

TEST_P(ManySessions, AllAreFollowedAlsoThoseThatAreMadeLater) {
  const Session old = make("old");
  auto follower = must(store->followAll());
  EXPECT_TRUE(must(follower.next(0)).empty()) << "what was there before is not told";
  make("new");
  std::size_t entries = 0;
  while (entries < 2) {
    for (const FollowedEntries& part : must(follower.next(60'000))) {
      EXPECT_EQ(part.sessionId, "new");
      entries += part.entries.size();
    }
  }
  must(old.append({message("x", "old-2")}));
  const auto next = must(follower.next(60'000));
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next.front().sessionId, "old");
  EXPECT_EQ(next.front().entries.size(), 1U);
  must(store->trashSession("old"));
  EXPECT_TRUE(must(follower.next(0)).empty());
}

TEST_P(ManySessions, AFollowerIsStoppedFromAnotherThread) {
  make("a");
  auto follower = must(store->followAll());
  std::thread stopper([&] { follower.stop(); });
  EXPECT_TRUE(must(follower.next(-1)).empty());
  stopper.join();
}

TEST_P(ManySessions, ClosingTheStoreEndsTheWaitsOfItsFollowers) {
  make("a");
  auto ofAll = must(store->followAll());
  auto ofOne = must(store->follow("a"));
  EXPECT_FALSE(must(ofOne.next(0)).empty());
  std::promise<void> waiting;
  std::thread first([&] { EXPECT_EQ(refused(ofAll.next(-1)).code, ErrorCode::Closed); });
  std::thread second([&] {
    waiting.set_value();
    EXPECT_EQ(refused(ofOne.next(-1)).code, ErrorCode::Closed);
  });
  waiting.get_future().wait();
  must(store->close());
  first.join();
  second.join();
}

INSTANTIATE_TEST_SUITE_P(Backends, ManySessions, testing::Bool(),
                         [](const auto& test) { return test.param ? "Files" : "Memory"; });

}  // namespace
}  // namespace bough
