// Every file system call fails once, or permanently: the operation returns an error or really succeeded, nothing
// acknowledged is lost, and after the fault a new store works.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "crash/ledger.h"

namespace bough {
namespace {

/// Operations under faults, on a store that was prepared without faults.
struct Scenario {
  std::function<void(SimFileSystem&, Ledger&)> prepare;
  std::function<void(World&, Ledger&)> act;
  StoreOptions options{};
};

StoreOptions patientFor(int lockTimeoutMs, std::size_t attachmentBytes = 4000) {
  StoreOptions options;
  options.attachmentBytes = attachmentBytes;
  options.lockTimeoutMs = lockTimeoutMs;
  return options;
}

const StoreOptions kOptions = patientFor(2);

void prepareSession(SimFileSystem& files, Ledger& ledger) {
  World world(files, kOptions);
  ASSERT_TRUE(ledger.create(world, "a"));
  ASSERT_TRUE(ledger.append(world, "a", {message("one"), message("two", 300)}));
  ASSERT_TRUE(ledger.append(world, "a", {message("three")}));
}

struct Fault {
  std::string name;
  std::function<void(SimFileSystem&, std::uint64_t call)> inject;
};

std::vector<Fault> allFaults() {
  std::vector<Fault> faults;
  for (const auto& [name, number] : {std::pair{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EACCES", EACCES}, {"EINTR", EINTR}}) {
    faults.push_back({name, [number](SimFileSystem& files, std::uint64_t call) { files.failOperation(call, number); }});
    // A permanent EINTR does not exist, so waiting for its end is correct.
    if (number == EINTR) continue;
    faults.push_back({fmt::format("{} for ever", name), [number](SimFileSystem& files, std::uint64_t call) {
                        files.failOperation(call, number, FaultReach::Forever);
                      }});
  }
  faults.push_back({"EINTR five times in a row", [](SimFileSystem& files, std::uint64_t call) {
                      for (std::uint64_t i = 0; i < 5; ++i) files.failOperation(call + i, EINTR);
                    }});
  faults.push_back(
      {"a short read or write", [](SimFileSystem& files, std::uint64_t call) { files.shortWrite(call, 1); }});
  return faults;
}

// The next append succeeds or returns a reason. What was acknowledged before, and this append, survive a power loss.
void worksOn(SimFileSystem& files, Ledger& ledger, const StoreOptions& options) {
  {
    World world(files, options, 3);
    ASSERT_TRUE(ledger.holds(world));
    for (const auto& [id, session] : Ledger(ledger).sessions) {
      const auto appended = ledger.append(world, id, {message("after-" + id)});
      const bool missing = !appended && appended.error().code == ErrorCode::NotFound && !session.createdAt;
      const bool old = !appended && appended.error().code == ErrorCode::MigrationNeeded;
      ASSERT_TRUE(appended || missing || old) << appended.error().message;
    }
    ASSERT_TRUE(ledger.holds(world));
  }
  auto image = powerLossNow(files);
  World world(*image, options, 4);
  EXPECT_TRUE(ledger.holds(world)) << "after a power loss";
}

void failEveryCall(const Scenario& scenario) {
  SimFileSystem base;
  Ledger prepared;
  scenario.prepare(base, prepared);
  if (testing::Test::HasFailure()) return;
  std::uint64_t calls = 0;
  {
    auto files = base.processCrash();
    Ledger ledger = prepared;
    {
      World world(*files, scenario.options, 2);
      scenario.act(world, ledger);
      EXPECT_TRUE(ledger.holds(world));
    }
    calls = files->callCount();
  }
  ASSERT_GT(calls, 0U);
  for (const Fault& fault : allFaults()) {
    for (std::uint64_t call = 1; call <= calls; ++call) {
      auto files = base.processCrash();
      Ledger ledger = prepared;
      fault.inject(*files, call);
      {
        World world(*files, scenario.options, 2);
        if (world.isOpen()) scenario.act(world, ledger);
        files->clearFaults();
        SCOPED_TRACE(fmt::format("{} at call {} ({})", fault.name, call, files->callName(call)));
        // The same process, too, still sees everything that it acknowledged.
        if (world.isOpen()) {
          EXPECT_TRUE(ledger.holds(world)) << "in the same process";
        }
        if (testing::Test::HasFailure()) return;
      }
      SCOPED_TRACE(fmt::format("{} at call {} ({})", fault.name, call, files->callName(call)));
      worksOn(*files, ledger, scenario.options);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Faults, WhileASessionIsMade) {
  failEveryCall({.prepare = [](SimFileSystem&, Ledger&) {},
                 .act =
                     [](World& world, Ledger& ledger) {
                       if (ledger.create(world, "a")) (void)ledger.append(world, "a", {message("one")});
                     },
                 .options = kOptions});
}

TEST(Faults, WhileEntriesAreAppended) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)ledger.append(world, "a", {message("four"), message("five", 1000)});
                       (void)ledger.append(world, "a", {headMove("move", "one"), message("six")});
                     },
                 .options = kOptions});
}

// Stored entries must be recognized, or the call must fail: an id must never be stored twice.
TEST(Faults, WhileABatchIsRepeated) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       const auto again = ledger.append(world, "a", {message("one"), message("two", 300)});
                       EXPECT_TRUE(!again || again->duplicateCount == 2);
                       const auto other = world->appendSessionEntries("a", {message("one", 90)});
                       EXPECT_FALSE(other);
                       (void)ledger.append(world, "a", {message("four")});
                     },
                 .options = kOptions});
}

TEST(Faults, WhileALargeBatchIsAppended) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       std::vector<Entry> batch;
                       for (int i = 0; i < 1000; ++i) batch.push_back(message("m" + std::to_string(i)));
                       (void)ledger.append(world, "a", batch);
                     },
                 .options = kOptions});
}

TEST(Faults, WhileAnAttachmentIsAppended) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)ledger.append(world, "a", {message("large", 5000), message("small")});
                       (void)ledger.append(world, "a", {message("large", 5000), message("small")});
                       (void)ledger.append(world, "a", {message("large2", 6000)});
                     },
                 .options = kOptions});
}

TEST(Faults, WhileASessionIsForked) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       if (!ledger.fork(world, "a", "two", "b")) {
                         // The call could not find out what it would share; the fork may exist nevertheless.
                         ledger.sessions["b"].shared = {message("one"), message("two", 300)};
                         return;
                       }
                       ledger.sessions["b"].shared = {message("one"), message("two", 300)};
                       (void)ledger.append(world, "b", {message("own")});
                     },
                 .options = kOptions});
}

void prepareTornTail(SimFileSystem& files, Ledger& ledger) {
  prepareSession(files, ledger);
  const std::string log = files.contents("/store/sessions/a.jsonl").value();
  files.put("/store/sessions/a.jsonl", log + R"({"id":"torn","parentId":"three","type":"mess)");
}

TEST(Faults, WhileATornTailIsRecovered) {
  failEveryCall({.prepare = prepareTornTail,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)ledger.append(world, "a", {message("four")});
                       (void)world->repairSession("a");
                       (void)ledger.append(world, "a", {message("five")});
                     },
                 .options = kOptions});
}

// One process has the session open while another appends to it.
TEST(Faults, WhileAProcessCatchesUpWithAnother) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)world->loadSessionEntries("a");
                       World other(world.files(), kOptions, 5);
                       if (!other.isOpen()) return;
                       (void)ledger.append(other, "a", {message("theirs1"), message("theirs2")});
                       (void)world->loadSessionEntries("a");
                       (void)ledger.append(world, "a", {message("ours")});
                       (void)ledger.append(world, "a", {message("ours2")});
                     },
                 .options = kOptions});
}

const std::string kFormatZero =
    R"({"type":"session_header","id":"h","parentId":null,"timestamp":"2026-01-01T00:00:00Z","payload":{"version":0}})"
    "\n"
    R"({"id":"old1","parentId":"h","type":"message","timestamp":"2026-01-01T00:00:01Z","payload":{"text":"one"}})"
    "\n"
    R"({"payload":{"text":"two"},"id":"old2","parentId":"old1","type":"message","timestamp":"2026-01-01T00:00:02Z"})"
    "\n";

void prepareFormatZero(SimFileSystem& files, Ledger& ledger) {
  files.put("/store/sessions/z.jsonl", kFormatZero);
  Entry one = message("old1");
  Entry two = message("old2");
  one.payload = R"({"text":"one"})";
  two.payload = R"({"text":"two"})";
  ledger.noteStored("z", {one, two});
}

TEST(Faults, WhileASessionIsMigrated) {
  failEveryCall({.prepare = prepareFormatZero,
                 .act =
                     [](World& world, Ledger& ledger) {
                       if (world->migrateSession("z")) (void)ledger.append(world, "z", {message("new")});
                     },
                 .options = kOptions});
}

TEST(Faults, WhileASessionIsArchivedAndComesBack) {
  failEveryCall({.prepare = prepareSession,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)world->archiveSession("a");
                       (void)world->loadSessionEntries("a");
                       (void)ledger.append(world, "a", {message("four")});
                     },
                 .options = kOptions});
}

// The parent may be removed only when its fork has a copy of everything that it shared.
TEST(Faults, WhileAParentIsDeletedAndItsForkDetached) {
  const auto prepare = [](SimFileSystem& files, Ledger& ledger) {
    prepareSession(files, ledger);
    World world(files, kOptions);
    ASSERT_TRUE(ledger.fork(world, "a", "two", "b"));
    ASSERT_TRUE(ledger.append(world, "b", {message("own")}));
  };
  const auto messagesOf = [](World& world, const std::string& id) {
    std::string ids;
    const auto entries = world->loadSessionEntries(id, {.type = "message"});
    if (!entries) return "(" + entries.error().message + ")";
    for (const Entry& entry : *entries) ids += entry.id + entry.payload;
    return ids;
  };
  SimFileSystem base;
  Ledger ledger;
  prepare(base, ledger);
  World first(base, kOptions);
  const std::string ofParent = messagesOf(first, "a");
  const std::string ofFork = messagesOf(first, "b");
  for (const bool detach : {true, false}) {
    for (const Fault& fault : allFaults()) {
      constexpr std::uint64_t kCalls = 170;  // more calls than a deletion makes
      for (std::uint64_t call = 1; call <= kCalls; ++call) {
        auto files = base.processCrash();
        fault.inject(*files, call);
        bool deleted = false;
        {
          World world(*files, kOptions, 2);
          deleted = world.isOpen() && world->deleteSession("a", {.detachForks = detach});
          ASSERT_LT(files->callCount(), kCalls);
          files->clearFaults();
        }
        SCOPED_TRACE(fmt::format("{} at call {} ({}), detach {}", fault.name, call, files->callName(call), detach));
        for (const bool powerLost : {false, true}) {
          auto image = powerLost ? powerLossNow(*files) : files->processCrash();
          World world(*image, kOptions, 3);
          ASSERT_TRUE(world.isOpen());
          ASSERT_EQ(messagesOf(world, "b"), ofFork);
          const auto headers = world->loadSessionEntries("b", {.type = "session_header"});
          ASSERT_TRUE(headers && !headers->empty());
          const std::string& header = headers->front().payload;
          ASSERT_EQ(header.contains(R"("rootSession":"a")"), header.contains("detachedFrom")) << header;
          const std::string parent = messagesOf(world, "a");
          const bool gone = parent.find("there is no session a") != std::string::npos;
          ASSERT_TRUE(gone || parent == ofParent) << parent;
          ASSERT_TRUE(!deleted || gone) << "deleted, and back again";
          ASSERT_TRUE(detach || !gone) << "a fork lost its history";
          ASSERT_TRUE(world->appendSessionEntries("b", {message("after")}));
        }
      }
    }
  }
}

TEST(Faults, WhileAnIndexIsWrittenAndExtended) {
  const auto prepare = [](SimFileSystem& files, Ledger& ledger) {
    World world(files, patientFor(2, 1 << 20));
    ASSERT_TRUE(ledger.create(world, "a"));
    ASSERT_TRUE(ledger.append(world, "a", {message("one", 270'000), message("two", 20'000)}));
    World other(files, patientFor(2, 1 << 20));
    ASSERT_TRUE(other->loadSessionEntries("a"));
    ASSERT_TRUE(files.contents("/store/sessions/a.idx"));
  };
  failEveryCall({.prepare = prepare,
                 .act =
                     [](World& world, Ledger& ledger) {
                       (void)ledger.append(world, "a", {message("three", 270'000)});
                       (void)ledger.append(world, "a", {message("four")});
                       (void)world->loadEntry("a", "two");
                       (void)world->repairSession("a");
                     },
                 .options = patientFor(2, 1 << 20)});
}

TEST(Faults, AWriteThatFailsNamesTheFileTheOffsetAndWhatToDo) {
  SimFileSystem base;
  Ledger ledger;
  prepareSession(base, ledger);
  const std::size_t size = base.contents("/store/sessions/a.jsonl").value().size();
  const auto append = [](SimFileSystem& files) {
    World world(files, kOptions, 2);
    return world->appendSessionEntries("a", {message("four")});
  };
  auto probe = base.processCrash();
  ASSERT_TRUE(append(*probe));
  std::uint64_t write = 1;
  while (!probe->callName(write).starts_with(fmt::format("write sessions/a.jsonl {}+", size))) {
    ASSERT_LT(write++, probe->callCount());
  }
  for (const int number : {EIO, ENOSPC, EROFS}) {
    auto files = base.processCrash();
    files->failOperation(write, number);
    const auto failed = append(*files);
    ASSERT_FALSE(failed);
    EXPECT_TRUE(failed.error().message.contains("/store/sessions/a.jsonl")) << failed.error().message;
    EXPECT_TRUE(failed.error().message.contains(fmt::format("at byte {}", size))) << failed.error().message;
    EXPECT_FALSE(failed.error().hint.empty());
  }
}

}  // namespace
}  // namespace bough
