// Operations that replace a session's file, interrupted at any point: every entry is readable at once, and the next run
// finishes or undoes the operation.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "crash/ledger.h"

namespace bough {
namespace {

Entry stored(const std::string& id, const std::string& text) {
  Entry entry = message(id);
  entry.payload = "{\"text\":\"" + text + "\"}";
  return entry;
}

std::string formatZero(int entries, Ledger& ledger) {
  std::string log =
      R"({"type":"session_header","id":"h","parentId":null,"timestamp":"2026-01-01T00:00:00Z","payload":{"version":0}})"
      "\n";
  std::string parent = "h";
  std::vector<Entry> expected;
  for (int i = 0; i < entries; ++i) {
    const std::string id = fmt::format("old{}", i);
    log += fmt::format(
        R"({{"payload":{{"text":"number {}"}},"parentId":"{}","id":"{}","type":"message","timestamp":"2026-01-01T00:00:01Z"}})"
        "\n",
        i, parent, id);
    expected.push_back(stored(id, fmt::format("number {}", i)));
    parent = id;
  }
  ledger.noteStored("a", expected);
  return log;
}

void prepareLog(SimFileSystem& files, Ledger& ledger) {
  World world(files);
  ASSERT_TRUE(ledger.create(world, "a"));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(ledger.append(world, "a", {message(fmt::format("m{}", i), 250)}));
}

struct Swap {
  std::function<void(SimFileSystem&, Ledger&)> prepare;
  std::function<void(World&, Ledger&)> act;
  std::function<void(SimFileSystem&, World&)> finish;  ///< The next run; afterwards the session is intact.
};

// Crashes of the process (what was written stays) and of the power.
void cutEverywhere(const Swap& swap) {
  SimFileSystem base;
  Ledger prepared;
  swap.prepare(base, prepared);
  if (testing::Test::HasFailure()) return;
  auto files = base.processCrash();
  Ledger ledger = prepared;
  {
    World world(*files, {}, 2);
    swap.act(world, ledger);
    ASSERT_TRUE(ledger.holds(world));
  }
  std::size_t images = 0;
  const auto check = [&](CrashImage& image) {
    if (testing::Test::HasFailure()) return;
    ++images;
    SCOPED_TRACE(image.description);
    {
      World reader(*image.files, {.create = false}, 3);
      ASSERT_TRUE(ledger.holds(reader, image.point.completed()));
      EXPECT_EQ(image.files->operationCount(), 0U) << "reading changed " << image.files->operationName(1);
    }
    Ledger found = ledger;
    World world(*image.files, {}, 4);
    found.settleOn(world);
    swap.finish(*image.files, world);
    ASSERT_TRUE(found.holds(world));
    const auto appended = found.append(world, "a", {message("after")});
    ASSERT_TRUE(appended) << appended.error().message;
    const auto repaired = world->repairSession("a");
    ASSERT_TRUE(repaired) << repaired.error().message;
    ASSERT_TRUE(found.holds(world));
    for (const std::string& name : image.files->names("/store/sessions")) {
      EXPECT_FALSE(name.ends_with(".tmp")) << name << " was left behind";
    }
    EXPECT_TRUE(image.files->names("/store/archive").empty());
    auto later = powerLossNow(*image.files);
    World last(*later, {}, 5);
    EXPECT_TRUE(found.holds(last)) << "after a second crash, of the power";
  };
  files->forEachCrash({.writeStepBytes = 53, .exhaustivePages = 3, .exhaustiveImages = 200, .samples = 20}, check);
  for (std::uint64_t operation = 0; operation <= files->operationCount(); ++operation) {
    const CrashPoint point{.operation = operation, .bytes = {}};
    CrashImage image{.point = point,
                     .description = "the process died after " + files->operationName(operation),
                     .files = files->processCrash(point)};
    check(image);
  }
  EXPECT_GT(images, 20U);
}

TEST(Interrupted, MigrationIsFinishedByTheNextRun) {
  cutEverywhere({.prepare = [](SimFileSystem& files,
                               Ledger& ledger) { files.put("/store/sessions/a.jsonl", formatZero(5, ledger)); },
                 .act = [](World& world, Ledger&) { ASSERT_TRUE(world->migrateSession("a")); },
                 .finish =
                     [](SimFileSystem& files, World& world) {
                       const auto migrated = world->migrateSession("a");
                       ASSERT_TRUE(migrated) << migrated.error().message;
                       Ledger ignored;
                       EXPECT_EQ(files.contents("/store/sessions/a.v0"), formatZero(5, ignored));
                     }});
}

TEST(Interrupted, ArchivingIsFinishedOrUndone) {
  cutEverywhere({.prepare = prepareLog,
                 .act = [](World& world, Ledger&) { ASSERT_TRUE(world->archiveSession("a")); },
                 .finish =
                     [](SimFileSystem&, World& world) {
                       const auto archived = world->archiveSession("a");
                       ASSERT_TRUE(archived) << archived.error().message;
                       EXPECT_TRUE(world->sessionState("a")->archived);
                     }});
}

TEST(Interrupted, RestoringIsFinishedByTheNextAppend) {
  cutEverywhere({.prepare =
                     [](SimFileSystem& files, Ledger& ledger) {
                       prepareLog(files, ledger);
                       World world(files);
                       ASSERT_TRUE(world->archiveSession("a"));
                     },
                 .act = [](World& world, Ledger& ledger) { ASSERT_TRUE(ledger.append(world, "a", {message("new")})); },
                 .finish = [](SimFileSystem&, World&) {}});
}

// After an acknowledged deletion, nothing of the session comes back, whatever an earlier crash left.
TEST(Interrupted, ArchivingLeavesNothingThatADeletionWouldMiss) {
  SimFileSystem base;
  Ledger ledger;
  prepareLog(base, ledger);
  auto files = base.processCrash();
  {
    World world(*files, {}, 2);
    ASSERT_TRUE(world->archiveSession("a"));
    ASSERT_TRUE(ledger.append(world, "a", {message("new")}));
  }
  for (std::uint64_t operation = 0; operation <= files->operationCount(); ++operation) {
    SCOPED_TRACE(files->operationName(operation));
    auto image = files->processCrash({.operation = operation, .bytes = {}});
    {
      World world(*image, {}, 3);
      const auto deleted = world->deleteSession("a");
      ASSERT_TRUE(deleted) << deleted.error().message;
      EXPECT_TRUE(world->listSessions()->empty());
    }
    auto later = powerLossNow(*image);
    World world(*later, {}, 4);
    EXPECT_TRUE(world->listSessions()->empty()) << "it came back after a power loss";
  }
}

// While a fork gets its own copy and its parent is deleted, the fork shows the same messages at every point.
TEST(Interrupted, DetachingKeepsWhatTheForkShares) {
  SimFileSystem base;
  Ledger ledger;
  prepareLog(base, ledger);
  {
    World world(base);
    ASSERT_TRUE(ledger.fork(world, "a", "m2", "b"));
    ASSERT_TRUE(ledger.append(world, "b", {message("own", 700)}));
  }
  const auto messagesOf = [](World& world) {
    std::string ids;
    const auto entries = world->loadSessionEntries("b", {.type = "message"});
    if (!entries) return entries.error().message;
    for (const Entry& entry : *entries) ids += entry.id + entry.payload;
    return ids + world->sessionState("b")->headId;
  };
  auto files = base.processCrash();
  std::string expected;
  {
    World world(*files, {}, 2);
    expected = messagesOf(world);
    ASSERT_TRUE(world->deleteSession("a", {.detachForks = true}));
    EXPECT_EQ(messagesOf(world), expected);
  }
  files->forEachCrash({.writeStepBytes = 211, .exhaustivePages = 4, .samples = 20}, [&](CrashImage& image) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(image.description);
    World world(*image.files, {}, 3);
    ASSERT_EQ(messagesOf(world), expected);
    const auto deleted = world->deleteSession("a", {.detachForks = true});
    ASSERT_TRUE(deleted || deleted.error().code == ErrorCode::NotFound) << deleted.error().message;
    EXPECT_EQ(messagesOf(world), expected);
  });
}

}  // namespace
}  // namespace bough
