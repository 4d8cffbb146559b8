// An erasure that is interrupted at any point: after the next open it is complete everywhere, or never happened.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "base/json/json_scan.h"
#include "crash/ledger.h"

namespace bough {
namespace {

constexpr std::size_t kLarge = 1500;

StoreOptions options() {
  StoreOptions made;
  made.attachmentBytes = 1000;
  return made;
}

// m1 is in the log of a, in a detached copy and in the trash; m2 is an attachment of all three.
void prepare(SimFileSystem& files) {
  Ledger ledger;
  World world(files, options());
  ASSERT_TRUE(ledger.create(world, "a"));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(ledger.append(world, "a", {message(fmt::format("m{}", i), i == 2 ? kLarge : 300)}));
  }
  for (const std::string id : {"copy", "thrown"}) {
    ASSERT_TRUE(world->branchFromEntry("a", "m3", {.sessionId = id}));
    ASSERT_TRUE(world->maintenance().detach(id));
  }
  ASSERT_TRUE(world->trashSession("thrown"));
  ASSERT_TRUE(world->archiveSession("copy"));
}

Result<ErasureReport> erase(World& world) {
  return world->maintenance().erase({.sessionId = "a", .entryIds = {"m1", "m2"}, .by = "me", .reason = "a request"});
}

// Texts from the erased entries.
std::vector<std::string> secrets() {
  std::vector<std::string> texts;
  for (const Entry& entry : {message("m1", 300), message("m2", kLarge)}) {
    texts.push_back(entry.payload.substr(entry.payload.size() / 2, 60));
  }
  return texts;
}

std::vector<std::string> filesWithSecrets(const SimFileSystem& files) {
  std::vector<std::string> found;
  for (const auto& [path, bytes] : filesBelow(files, "/store")) {
    for (const std::string& secret : secrets()) {
      if (bytes.contains(secret)) found.push_back(path);
    }
  }
  return found;
}

// Sets `erased` to true when m1 and m2 are erased in every session, and to false when they are intact in every session.
void checkWhole(SimFileSystem& files, World& world, bool& erased) {
  const auto first = world->loadEntry("a", "m1");
  ASSERT_TRUE(first) << first.error().message;
  erased = first->redacted;
  const auto trash = world->listTrash();
  ASSERT_TRUE(trash && trash->size() == 1);
  ASSERT_TRUE(world->restoreSession(trash->front().trashId));
  for (const std::string id : {"a", "copy", "thrown"}) {
    SCOPED_TRACE(id);
    for (const auto& [entryId, bytes] : {std::pair{"m0", 300UL}, {"m1", 300UL}, {"m2", kLarge}, {"m3", 300UL}}) {
      const auto entry = world->loadEntry(id, entryId);
      ASSERT_TRUE(entry) << entry.error().message;
      const bool isTarget = entryId == std::string("m1") || entryId == std::string("m2");
      EXPECT_EQ(entry->redacted, erased && isTarget) << entryId;
      if (!entry->redacted) {
        EXPECT_EQ(entry->payload, message(entryId, bytes).payload) << entryId;
      }
    }
    const auto verified = world->verifySession(id);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_EQ(verified->problemCount, 0U);
    const auto receipts = world->loadSessionEntries(id, {.type = "redaction"});
    ASSERT_TRUE(receipts);
    EXPECT_EQ(receipts->size(), erased ? 2U : 0U);
  }
  if (erased) {
    EXPECT_EQ(filesWithSecrets(files), std::vector<std::string>{});
  }
  EXPECT_FALSE(files.contents("/store/erasure.json").has_value());
}

void cutErasureEverywhere() {
  SimFileSystem base;
  prepare(base);
  if (testing::Test::HasFailure()) return;
  auto files = base.processCrash();
  {
    World world(*files, options(), 2);
    const auto report = erase(world);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->removedAttachments, 1U);
  }
  ASSERT_EQ(filesWithSecrets(*files), std::vector<std::string>{});
  std::size_t finished = 0;
  std::size_t unbegun = 0;
  const auto check = [&](CrashImage& image) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(image.description);
    bool erased = false;
    {
      World world(*image.files, options(), 3);
      ASSERT_TRUE(world.isOpen()) << world.error().message;
      checkWhole(*image.files, world, erased);
    }
    ++(erased ? finished : unbegun);
    auto later = powerLossNow(*image.files);
    if (erased) {
      EXPECT_EQ(filesWithSecrets(*later), std::vector<std::string>{}) << "after a second crash, of the power";
    }
  };
  files->forEachCrash({.writeStepBytes = 701, .exhaustivePages = 2, .exhaustiveImages = 24, .samples = 4}, check);
  for (std::uint64_t operation = 0; operation <= files->operationCount(); ++operation) {
    const CrashPoint point{.operation = operation, .bytes = {}};
    CrashImage image{.point = point,
                     .description = "the process died after " + files->operationName(operation),
                     .files = files->processCrash(point)};
    check(image);
  }
  EXPECT_GT(finished, 40U);
  EXPECT_GT(unbegun, 2U);
}

TEST(Erasing, IsFinishedOrNeverBegunAfterACrashAtAnyPoint) {
  cutErasureEverywhere();
}

// Only the line itself shows what a damaged entry contained, and a part of it was set aside.
TEST(Erasing, OfADamagedEntryIsFinishedAfterADeathAnywhere) {
  SimFileSystem base;
  std::string id;
  {
    Ledger ledger;
    World world(base, options());
    ASSERT_TRUE(ledger.create(world, "a"));
    for (const std::string each : {"m0", "m1", "m3"}) ASSERT_TRUE(ledger.append(world, "a", {message(each, 300)}));
  }
  std::string log = base.contents("/store/sessions/a.jsonl").value_or("");
  const std::size_t begin = log.find(R"({"id":"m1")");
  base.put("/store/sessions/a.torn", log.substr(begin + 60, log.find('\n', begin) - begin - 60) + "\n");
  log[begin] = '#';
  base.put("/store/sessions/a.jsonl", log);
  auto files = base.processCrash();
  {
    World world(*files, options(), 2);
    const auto entries = world->loadSessionEntries("a");
    ASSERT_TRUE(entries);
    const auto lost = std::ranges::find(*entries, "unreadable", &Entry::type);
    ASSERT_NE(lost, entries->end());
    id = lost->id;
    ASSERT_TRUE(world->maintenance().erase({.sessionId = "a", .entryIds = {id}, .by = "me", .reason = "a request"}));
  }
  ASSERT_EQ(filesWithSecrets(*files), std::vector<std::string>{});
  std::size_t finished = 0;
  for (std::uint64_t operation = 0; operation <= files->operationCount(); ++operation) {
    auto later = files->processCrash({.operation = operation, .bytes = {}});
    SCOPED_TRACE("the process died after " + files->operationName(operation));
    World world(*later, options(), 3);
    ASSERT_TRUE(world.isOpen());
    const auto entry = world->loadEntry("a", id);
    ASSERT_TRUE(entry) << entry.error().message;
    if (!entry->redacted) continue;
    ++finished;
    EXPECT_EQ(filesWithSecrets(*later), std::vector<std::string>{});
  }
  EXPECT_GT(finished, 5U);
}

// A fork names the last entry of its parent by its place. The lines move, but the fork is not rewritten.
TEST(Erasing, KeepsWhatAForkKnowsByItsPlaceAfterADeathAnywhere) {
  SimFileSystem base;
  {
    Ledger ledger;
    World world(base, options());
    ASSERT_TRUE(ledger.create(world, "a"));
    for (const std::string each : {"m0", "m1", "last"}) ASSERT_TRUE(ledger.append(world, "a", {message(each, 900)}));
    ASSERT_TRUE(world->repairSession("a"));
  }
  std::string log = base.contents("/store/sessions/a.jsonl").value_or("");
  log.replace(log.find(R"({"id":"last")"), 8, std::string(8, '#'));
  base.put("/store/sessions/a.jsonl", log);
  auto files = base.processCrash();
  {
    World world(*files, options(), 2);
    const auto lost = world->sessionState("a");
    ASSERT_TRUE(lost);
    ASSERT_TRUE(lost->headId.starts_with("unreadable:")) << lost->headId;
    ASSERT_TRUE(world->branchFromEntry("a", lost->headId, {.sessionId = "f"}));
    ASSERT_TRUE(world->appendSessionEntries("f", {message("own", 100)}));
  }
  auto ready = files->processCrash();
  {
    World world(*ready, options(), 3);
    ASSERT_TRUE(world->maintenance().erase({.sessionId = "f", .entryIds = {"m0"}, .by = "me", .reason = "a request"}));
  }
  std::size_t finished = 0;
  for (std::uint64_t operation = 0; operation <= ready->operationCount(); ++operation) {
    auto later = ready->processCrash({.operation = operation, .bytes = {}});
    SCOPED_TRACE("the process died after " + ready->operationName(operation));
    World world(*later, options(), 4);
    ASSERT_TRUE(world.isOpen());
    const auto branch = world->loadSessionEntries("f", {.branch = "own"});
    ASSERT_TRUE(branch) << branch.error().message;
    ASSERT_EQ(branch->size(), 4U);
    EXPECT_EQ((*branch)[1].id, "m1");
    EXPECT_EQ((*branch)[2].type, "unreadable");
    finished += branch->front().redacted ? 1U : 0U;
    const auto verified = world->verifySession("f");
    ASSERT_TRUE(verified);
    EXPECT_EQ(verified->problemCount, 0U);
  }
  EXPECT_GT(finished, 5U);
  EXPECT_LT(finished, ready->operationCount());
}

// Nothing is left of a damaged copy at the end of another log. The part of its batch before it was acknowledged.
TEST(Erasing, OfADamagedCopyLeavesTheRestOfItsBatch) {
  SimFileSystem files;
  {
    Ledger ledger;
    World world(files, options());
    ASSERT_TRUE(ledger.create(world, "a"));
    ASSERT_TRUE(ledger.append(world, "a", {message("m1", 300)}));
    ASSERT_TRUE(ledger.create(world, "b"));
    ASSERT_TRUE(ledger.append(world, "b", {message("x1", 100), message("x2", 100), message("m1", 300)}));
    ASSERT_TRUE(world->repairSession("b"));
  }
  std::string log = files.contents("/store/sessions/b.jsonl").value_or("");
  log[log.find(R"({"id":"m1")")] = '#';
  files.put("/store/sessions/b.jsonl", log);
  const auto expectRest = [&](std::uint64_t seed) {
    World world(files, options(), seed);
    for (const std::string id : {"x1", "x2"}) {
      ASSERT_TRUE(world->loadEntry("b", id));
    }
    const auto state = world->sessionState("b");
    ASSERT_TRUE(state);
    EXPECT_EQ(state->trailingBytes, 0U);
  };
  expectRest(2);
  {
    World world(files, options(), 3);
    ASSERT_TRUE(world->maintenance().erase({.sessionId = "a", .entryIds = {"m1"}, .by = "me", .reason = "a request"}));
  }
  EXPECT_FALSE(files.contents("/store/sessions/b.jsonl").value_or("").contains(message("m1", 300).payload.substr(100)));
  expectRest(4);
  {
    World world(files, options(), 5);
    ASSERT_TRUE(world->appendSessionEntries("b", {message("after", 100)}));
  }
  expectRest(6);
}

// The original messages of a migrated session, which only the migration's marker names.
TEST(Erasing, WithoutAReadOfAWayBackIsNotDone) {
  SimFileSystem base;
  {
    Ledger ledger;
    World world(base, options());
    ASSERT_TRUE(ledger.create(world, "a"));
    ASSERT_TRUE(ledger.append(world, "a", {message("m1", 300)}));
    const auto wayBack = world->maintenance().putAttachment(R"({"m1":)" + message("m1", 300).payload + "}");
    ASSERT_TRUE(wayBack);
    Entry marker = message("marker");
    marker.type = entry_type::kCustom;
    marker.payload = fmt::format(R"({{"kind":"provider_migration","wayBack":"{}"}})", *wayBack);
    ASSERT_TRUE(world->appendSessionEntries("a", {marker}));
  }
  std::uint64_t calls = 0;
  std::size_t done = 0;
  for (std::uint64_t call = 0; call <= calls; ++call) {
    auto files = base.processCrash();
    if (call > 0) files->failOperation(call, EIO);
    bool erased = false;
    {
      World world(*files, options(), 2);
      erased = world.isOpen() &&
               world->maintenance().erase({.sessionId = "a", .entryIds = {"m1"}, .by = "me", .reason = "a request"});
      calls = std::max(calls, files->callCount());
      files->clearFaults();
    }
    SCOPED_TRACE(fmt::format("call {} ({})", call, call > 0 ? files->callName(call) : "none fails"));
    if (!erased) continue;
    ++done;
    EXPECT_EQ(filesWithSecrets(*files), std::vector<std::string>{});
  }
  EXPECT_GT(done, 1U);
}

// After a failed call, the next process that opens the store finishes the work of the journal.
TEST(Erasing, IsFinishedAfterAnyFailedCall) {
  SimFileSystem base;
  prepare(base);
  if (testing::Test::HasFailure()) return;
  std::uint64_t calls = 0;
  std::uint64_t before = 0;
  {
    auto files = base.processCrash();
    World world(*files, options(), 2);
    before = files->callCount();
    ASSERT_TRUE(erase(world));
    calls = files->callCount();
  }
  for (std::uint64_t call = before + 1; call <= calls; call += 2) {
    auto files = base.processCrash();
    bool done = false;
    {
      World world(*files, options(), 2);
      files->failOperation(call, 5 /* EIO */);
      done = erase(world).has_value();
      files->clearFaults();
    }
    SCOPED_TRACE(fmt::format("call {} failed", call));
    World world(*files, options(), 3);
    ASSERT_TRUE(world.isOpen());
    bool erased = false;
    checkWhole(*files, world, erased);
    if (done) {
      EXPECT_TRUE(erased);
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace bough
