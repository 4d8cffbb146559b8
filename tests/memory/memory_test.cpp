// Memory that runs out: every allocation of a call fails in turn. The call throws std::bad_alloc or returns an error,
// nothing is left half done, and the next call works.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include "bough/catalog.h"
#include "bough/context.h"
#include "memory/failing_memory.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

enum class Where { Folder, Memory };

// A store with a session of three messages.
struct World {
  explicit World(const StoreOptions& options = {}, Where where = Where::Folder)
      : store(must(SessionStore::open(where == Where::Folder ? folder.path().string() : "memory:", options))) {
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {message("x", "1"), message("x", "2"), message("x", "3")},
                                     {.durability = Durability::Sync}));
  }
  // Returns how often each id is in the session, which must be once.
  std::map<std::string, int> ids(const std::string& session = "s") {
    std::map<std::string, int> found;
    for (const Entry& entry : must(store->loadSessionEntries(session))) ++found[entry.id];
    return found;
  }
  void expectSound(const std::string& session = "s") {
    for (const auto& [id, count] : ids(session)) EXPECT_EQ(count, 1) << id;
    EXPECT_EQ(must(store->verifySession(session)).problemCount, 0U);
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

enum class Ended { Well, WithError, ByException };

// Runs `call` in a new world each time, with a later failing allocation, until none fails any more. For a call with
// thousands of allocations, some of the later ones are skipped, because the same lines allocate again and again.
template <typename Call, typename Check>
void failEach(const StoreOptions& options, Call call, Check check, Where where) {
  constexpr long kEach = 150;
  for (long place = 0;; place += place < kEach ? 1 : 1 + place / 30) {
    SCOPED_TRACE((where == Where::Folder ? "folder, allocation " : "memory, allocation ") + std::to_string(place));
    World world(options, where);
    ::alarm(60);  // a call that hangs ends the test
    Ended ended = Ended::Well;
    allocationsLeft = place;
    try {
      ended = call(world) ? Ended::Well : Ended::WithError;
    } catch (const std::bad_alloc&) {
      ended = Ended::ByException;
    }
    const bool failed = allocationsLeft < 0;
    allocationsLeft = -1;
    check(world, ended);
    ::alarm(0);
    if (!failed) {
      EXPECT_EQ(ended, Ended::Well);
      EXPECT_GT(place, 0);
      return;
    }
    if (testing::Test::HasFailure()) return;
  }
}

template <typename Call, typename Check>
void failEach(const StoreOptions& options, Call call, Check check) {
  for (const Where where : {Where::Folder, Where::Memory}) failEach(options, call, check, where);
}

std::vector<Entry> batch() {
  return {message(std::string(100, 'a'), "a"), message(std::string(100, 'b'), "b"),
          message(std::string(100, 'c'), "c")};
}

void expectAllOrNothing(World& world, Ended ended) {
  auto found = world.ids();
  const int sum = found["a"] + found["b"] + found["c"];
  EXPECT_TRUE(sum == 0 || sum == 3) << "half a batch: " << sum;
  EXPECT_TRUE(ended != Ended::Well || sum == 3);
  must(world.store->appendSessionEntries("s", batch()));
  must(world.store->appendSessionEntries("s", {message("x", "last")}));
  found = world.ids();
  for (const char* id : {"a", "b", "c", "last"}) EXPECT_EQ(found[id], 1) << id;
  world.expectSound();
}

TEST(Memory, AnAppendIsThereWholeOrNotAtAll) {
  failEach(
      {}, [](World& world) { return world.store->appendSessionEntries("s", batch()).has_value(); }, expectAllOrNothing);
}

TEST(Memory, ABufferedAppendIsThereWholeOrNotAtAll) {
  failEach(
      {.durability = Durability::Buffered, .bufferedEntries = 1000, .bufferedMs = 1'000'000},
      [](World& world) {
        return world.store->appendSessionEntries("s", batch()).has_value() && world.store->flush().has_value();
      },
      [](World& world, Ended ended) {
        (void)world.store->flush();
        expectAllOrNothing(world, ended);
        must(world.store->flush());
      });
}

TEST(Memory, ALoadChangesNothing) {
  failEach(
      {}, [](World& world) { return world.store->loadSessionEntries("s").has_value(); },
      [](World& world, Ended) {
        EXPECT_EQ(world.ids().size(), 4U);
        world.expectSound();
      });
}

TEST(Memory, AStoreThatIsOpenedAndReadChangesNothing) {
  failEach(
      {},
      [](World& world) {
        auto other = SessionStore::open(world.folder.path().string());
        return other && (*other)->loadSessionEntries("s", {.last = 2}).has_value();
      },
      [](World& world, Ended) { world.expectSound(); }, Where::Folder);
}

TEST(Memory, AForkIsThereOrNot) {
  failEach(
      {}, [](World& world) { return world.store->branchFromEntry("s", "2", {.sessionId = "f"}).has_value(); },
      [](World& world, Ended ended) {
        const auto sessions = must(world.store->listSessions());
        const bool made = std::ranges::find(sessions, "f") != sessions.end();
        EXPECT_TRUE(made || ended != Ended::Well);
        if (!made) must(world.store->branchFromEntry("s", "2", {.sessionId = "f"}));
        must(world.store->appendSessionEntries("f", {message("x", "own")}));
        EXPECT_EQ(world.ids("f").size(), 4U);  // its header, the shared entries, its own entry
        world.expectSound("f");
        world.expectSound();
      });
}

TEST(Memory, ASessionIsInTheStoreOrInTheTrash) {
  failEach(
      {}, [](World& world) { return world.store->trashSession("s").has_value(); },
      [](World& world, Ended ended) {
        const auto trashed = must(world.store->listTrash());
        const bool isThere = !must(world.store->listSessions()).empty();
        EXPECT_TRUE(isThere || !trashed.empty());
        EXPECT_TRUE(!isThere || ended != Ended::Well);
        if (!isThere && !trashed.empty()) must(world.store->restoreSession(trashed.front().trashId));
        EXPECT_EQ(world.ids().size(), 4U);
        world.expectSound();
      });
}

TEST(Memory, AForkThatIsDetachedHasAllThatItShared) {
  failEach(
      {},
      [](World& world) {
        const long left = std::exchange(allocationsLeft, -1);
        must(world.store->branchFromEntry("s", "2", {.sessionId = "f"}));
        must(world.store->appendSessionEntries("f", {message("x", "own")}));
        allocationsLeft = left;
        return world.store->maintenance().detach("f").has_value();
      },
      [](World& world, Ended) {
        const auto expectAll = [&] {
          auto found = world.ids("f");
          for (const char* id : {"1", "2", "own"}) EXPECT_EQ(found[id], 1) << id;
        };
        expectAll();
        (void)world.store->maintenance().detach("f");  // InvalidArgument when it is already detached
        must(world.store->trashSession("s"));
        expectAll();
        world.expectSound("f");
      });
}

TEST(Memory, AnErasureIsDoneOrDoneByTheNextOne) {
  const Erasure erasure{.sessionId = "s", .entryIds = {"2"}, .by = "test", .reason = "private"};
  failEach(
      {}, [&](World& world) { return world.store->maintenance().erase(erasure).has_value(); },
      [&](World& world, Ended ended) {
        const auto erased = [&] { return must(world.store->loadSessionEntries("s")).at(2).redacted; };
        EXPECT_TRUE(erased() || ended != Ended::Well);
        if (!erased()) {
          // It may first finish the failed erasure, and then find nothing to do.
          const auto again = world.store->maintenance().erase(erasure);
          EXPECT_TRUE(again || again.error().code == ErrorCode::InvalidArgument) << again.error().message;
        }
        EXPECT_TRUE(erased());
        for (const char* id : {"1", "2", "3"}) EXPECT_EQ(world.ids()[id], 1) << id;
        world.expectSound();
      });
}

// Without memory, zlib and zstd cannot decompress, but their input is not damaged.
TEST(Memory, AnArchiveThatIsNotReadIsNotCalledDamaged) {
#ifdef BOUGH_SANITIZED
  GTEST_SKIP() << "a sanitizer has a malloc of its own";
#endif
  for (const char* const pack : {"true", "zstd -dcq s.jsonl.zst | gzip > s.jsonl.gz && rm s.jsonl.zst",
                                 "zstd -dq --rm s.jsonl.zst && cat s.jsonl | zstd -q > s.jsonl.zst && rm s.jsonl"}) {
    SCOPED_TRACE(pack);
    World world;
    must(world.store->maintenance().archive("s"));
    world.store.reset();
    ASSERT_EQ(std::system(("cd " + (world.folder.path() / "archive").string() + " && " + pack).c_str()), 0);
    bool failed = true;
    for (long place = 0; failed && !testing::Test::HasFailure(); ++place) {
      SCOPED_TRACE("allocation " + std::to_string(place));
      world.store = must(SessionStore::open(world.folder.path().string()));
      systemAllocationsLeft = place;
      try {
        const auto report = world.store->verifySession("s");
        EXPECT_TRUE(report ? report->problemCount == 0 : report.error().code != ErrorCode::Damaged);
      } catch (const std::bad_alloc&) {
      }
      failed = systemAllocationsLeft < 0;
      systemAllocationsLeft = -1;
      EXPECT_EQ(world.ids().size(), 4U);
      world.expectSound();
    }
  }
}

// Runs `work` without failing allocations.
template <typename Work>
auto undisturbed(Work work) {
  const long left = std::exchange(allocationsLeft, -1);
  auto result = work();
  allocationsLeft = left;
  return result;
}

// Adds a conversation with a call and its result, in two dialects.
bool addConversation(World& world) {
  must(world.store->appendSessionEntries(
      "s", {userText("What is the weather in Paris?"),
            assistant("anthropic", R"({"id":"msg_1","model":"claude-x","role":"assistant","content":[{"type":"text",)"
                                   R"("text":"Let me look."},{"type":"tool_use","id":"t1","name":"weather",)"
                                   R"("input":{"city":"Paris"}}],"usage":{"input_tokens":10,"output_tokens":5}})"),
            toolResult("t1", "cloudy"), assistantText("It is cloudy.")}));
  return true;
}

TEST(Memory, AContextIsBuiltOrNotAndChangesNothing) {
  failEach(
      {},
      [](World& world) {
        undisturbed([&] { return addConversation(world); });
        return buildContext(*world.store, "s", {.dialect = Dialect::OpenaiChat}).has_value();
      },
      [](World& world, Ended) {
        const auto context = buildContext(*world.store, "s", {.dialect = Dialect::OpenaiChat});
        ASSERT_TRUE(context) << context.error().message;
        EXPECT_TRUE(context->messages.contains("cloudy"));
        world.expectSound();
      });
}

void expectCatalog(Catalog& catalog) {
  const auto taken = catalog.catchUp({.search = true});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(must(catalog.count()), 1U);
  const auto rows = must(catalog.list());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().assistantMessages, 2U);
  EXPECT_EQ(rows.front().tokens.inputTokens, 10U);
  EXPECT_EQ(must(catalog.search("cloudy")).size(), 2U);
  EXPECT_EQ(must(catalog.usage()).total.tokens.outputTokens, 5U);
}

TEST(Memory, ACatalogIsMadeOrNotAndTheNextOneIsRight) {
  failEach(
      {},
      [](World& world) {
        undisturbed([&] { return addConversation(world); });
        auto catalog = Catalog::open(*world.store);
        return catalog && (*catalog)->catchUp({.search = true}) && (*catalog)->list() && (*catalog)->search("cloudy") &&
               (*catalog)->usage();
      },
      [](World& world, Ended) {
        expectCatalog(*must(Catalog::open(*world.store)));
        world.expectSound();
      });
}

TEST(Memory, ACatalogThatIsOpenGoesOn) {
  std::unique_ptr<Catalog> catalog;
  failEach(
      {},
      [&](World& world) {
        undisturbed([&] {
          catalog = must(Catalog::open(*world.store));
          must(catalog->catchUp({.search = true}));
          return addConversation(world);
        });
        return catalog->catchUp({.search = true}) && catalog->list() && catalog->search("cloudy") && catalog->usage();
      },
      [&](World&, Ended) {
        expectCatalog(*catalog);
        catalog.reset();
      });
}

TEST(Memory, AFollowerMissesNothing) {
  failEach(
      {},
      [](World& world) {
        auto follower = world.store->follow("s");
        if (!follower) return false;
        std::size_t seen = 0;
        for (int round = 0; seen < 4 && round < 4; ++round) {
          const long left = std::exchange(allocationsLeft, -1);
          must(world.store->appendSessionEntries("s", {message("x", "f" + std::to_string(round))}));
          allocationsLeft = left;
          try {
            const auto entries = follower->next(1000);
            if (entries) seen += entries->size();
          } catch (const std::bad_alloc&) {
            allocationsLeft = -1;
            const auto entries = must(follower->next(1000));
            EXPECT_GE(entries.size(), 4U) << "what could not be given comes with the next call";
            throw;
          }
        }
        return seen >= 4;
      },
      [](World& world, Ended) { world.expectSound(); });
}

}  // namespace
}  // namespace bough
