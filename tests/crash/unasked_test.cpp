// Files prove whether a batch that looks torn was counted. When one of them cannot be read, the answer is unknown, and
// nothing is set aside.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ledger.h"
#include "support/entries.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

const std::string kLog = kStore + "/sessions/s.jsonl";
const std::string kTorn = kStore + "/sessions/s.torn";

struct Proof {
  std::string_view name;
  std::function<void(World&, SimFileSystem&)> give;
};

void forkFrom(World& world, std::string_view to) {
  must(world->branchFromEntry("s", "e2", {.sessionId = std::string(to)}));
}

const std::vector<Proof>& proofs() {
  static const std::vector<Proof> all{
      {"its index", [](World& world, SimFileSystem&) { must(world->repairSession("s")); }},
      {"a fork", [](World& world, SimFileSystem&) { forkFrom(world, "fork"); }},
      {"an archived fork",
       [](World& world, SimFileSystem&) {
         forkFrom(world, "fork");
         must(world->archiveSession("fork"));
       }},
      {"a fork in the trash",
       [](World& world, SimFileSystem&) {
         forkFrom(world, "fork");
         must(world->trashSession("fork"));
       }},
      {"an archive beside it",
       [](World& world, SimFileSystem& files) {
         const std::string log = files.contents(kLog).value_or("");
         must(world->archiveSession("s"));
         files.put(kLog, log);
       }},
  };
  return all;
}

// A session whose last batch was counted, and was damaged later.
std::unique_ptr<SimFileSystem> damagedAfter(const Proof& proof) {
  auto files = std::make_unique<SimFileSystem>();
  {
    World world(*files);
    must(world->createSession({.sessionId = "s"}));
    must(world->appendSessionEntries("s", {message("e1", 40), message("e2", 40), message("e3", 40)}));
    proof.give(world, *files);
  }
  std::string log = files->contents(kLog).value_or("");
  const std::size_t at = log.find(R"("id":"e2")") + 40;
  log[at] = log[at] == '#' ? '+' : '#';
  files->put(kLog, log);
  return files->processCrash();
}

Result<AppendResult> appendMore(World& world) {
  return world->appendSessionEntries("s", {message("more", 40)});
}

void failEveryCallOf(const Proof& proof, int error, FaultReach reach) {
  const auto damaged = damagedAfter(proof);
  std::uint64_t calls = 0;
  {
    const auto files = damaged->processCrash();
    World world(*files);
    must(appendMore(world));
    EXPECT_FALSE(files->contents(kTorn)) << "without a fault";
    calls = files->callCount();
  }
  for (std::uint64_t call = 1; call <= calls; ++call) {
    const auto files = damaged->processCrash();
    files->failOperation(call, error, reach);
    SCOPED_TRACE(fmt::format("counted by {}; {} at call {}", proof.name, std::strerror(error), call));
    {
      World world(*files);
      if (world.isOpen()) (void)appendMore(world);
      files->clearFaults();
      EXPECT_FALSE(files->contents(kTorn)) << "while it could not be asked";
      // After a failed sync, or for a log that could not be opened for writing or unlocked, only another process can
      // continue.
      if (world.isOpen() && reach == FaultReach::Once) {
        const auto later = appendMore(world);
        const ErrorCode code = later ? ErrorCode::Io : later.error().code;
        EXPECT_TRUE(later || code == ErrorCode::Poisoned || code == ErrorCode::ReadOnly) << later.error().message;
      }
      EXPECT_FALSE(files->contents(kTorn)) << "later";
    }
    SCOPED_TRACE(files->callName(call));
    World fresh(*files, {}, 2);
    must(appendMore(fresh));
    EXPECT_FALSE(files->contents(kTorn)) << "in another process";
    EXPECT_EQ(must(fresh->loadSessionEntries("s", {.branch = "e3"})).size(), 3U);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Unasked, NothingIsSetAsideWhateverCallFails) {
  for (const Proof& proof : proofs()) {
    for (const int error : {EIO, EMFILE, EACCES}) failEveryCallOf(proof, error, FaultReach::Once);
    failEveryCallOf(proof, EIO, FaultReach::Forever);
  }
}

// The error names a fork that is unreadable, and the user can repair its file.
TEST(Unasked, AnArchiveThatIsDamagedIsNamed) {
  auto files = damagedAfter(proofs()[2]);
  const std::string archive = kStore + "/archive/fork.jsonl.zst";
  const std::string good = files->contents(archive).value_or("");
  ASSERT_FALSE(good.empty());
  files->put(archive, std::string(good.size(), 'x'));
  World world(*files);
  const Error error = refused(appendMore(world));
  EXPECT_TRUE(error.retryable);
  EXPECT_NE(error.message.find(archive), std::string::npos) << error.message;
  EXPECT_FALSE(files->contents(kTorn));
  const auto state = must(world->sessionState("s"));
  EXPECT_GT(state.trailingBytes, 0U);
  EXPECT_TRUE(state.trailingInDoubt);
  EXPECT_EQ(must(world->loadSessionEntries("s")).size(), 1U);
  EXPECT_FALSE(world->repairSession("s").has_value());
  files->put(archive, good);
  must(appendMore(world));
  EXPECT_FALSE(files->contents(kTorn));
  EXPECT_FALSE(must(world->sessionState("s")).trailingInDoubt);
}

// A file that is not bough's proves nothing and prevents nothing.
TEST(Unasked, AFolderNamedAsALogIsNotAsked) {
  auto files = damagedAfter({.name = "nobody", .give = [](World&, SimFileSystem&) {}});
  files->put(kStore + "/sessions/folder.jsonl/file", "");
  World world(*files);
  must(appendMore(world));
  EXPECT_TRUE(files->contents(kTorn));
}

// A log that looked torn is checked again later, although its file is unchanged.
TEST(Unasked, AReaderAsksAgainLater) {
  auto files = damagedAfter(proofs()[2]);
  const std::string archive = kStore + "/archive/fork.jsonl.zst";
  const std::string good = files->contents(archive).value_or("");
  files->put(archive, std::string(good.size(), 'x'));
  World world(*files);
  EXPECT_EQ(must(world->loadSessionEntries("s")).size(), 1U);
  files->put(archive, good);
  world.clock().advance(1000);
  EXPECT_EQ(must(world->loadSessionEntries("s", {.branch = "e3"})).size(), 3U);
  EXPECT_EQ(must(world->sessionState("s")).trailingBytes, 0U);
}

}  // namespace
}  // namespace bough
