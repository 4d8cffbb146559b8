// Moves to the trash and back that are interrupted at any point: the session is intact, either live or in the trash,
// and the operation can be repeated.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "crash/ledger.h"

namespace bough {
namespace {

constexpr std::string_view kTorn = "bytes of a torn batch";
const std::string kTornPath = "/store/sessions/a.torn";

enum class Form : std::uint8_t { Log, Archived, WithTornBytes, BothLogAndArchive };

std::string messagesOf(World& world) {
  const auto entries = world->loadSessionEntries("a", {.type = "message"});
  if (!entries) return entries.error().message;
  std::string text;
  for (const Entry& entry : *entries) text += entry.id + entry.payload;
  return text;
}

bool isLive(World& world) {
  const auto sessions = world->listSessions();
  return sessions && std::ranges::find(*sessions, "a") != sessions->end();
}

class TrashCrash : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    World world(base_);
    ASSERT_TRUE(world->createSession({.sessionId = "a"}));
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(world->appendSessionEntries("a", {message(fmt::format("m{}", i), 250)}));
    }
    expected_ = messagesOf(world);
    const std::string log = base_.contents("/store/sessions/a.jsonl").value();
    if (GetParam() == Form::Archived || GetParam() == Form::BothLogAndArchive) {
      ASSERT_TRUE(world->archiveSession("a"));
    }
    if (GetParam() == Form::BothLogAndArchive) base_.put("/store/sessions/a.jsonl", log);
    if (GetParam() == Form::WithTornBytes) base_.put(kTornPath, kTorn);
  }

  // Every crash of the process and of the power during `act`.
  void cutEverywhere(SimFileSystem& before, const std::function<void(World&)>& act,
                     const std::function<void(CrashImage&)>& check) {
    auto files = before.processCrash();
    {
      World world(*files, {}, 2);
      act(world);
    }
    if (HasFailure()) return;
    std::size_t images = 0;
    const auto each = [&](CrashImage& image) {
      if (HasFailure()) return;
      ++images;
      SCOPED_TRACE(image.description);
      check(image);
    };
    files->forEachCrash({.exhaustivePages = 4, .exhaustiveImages = 300, .samples = 30}, each);
    for (std::uint64_t operation = 0; operation <= files->operationCount(); ++operation) {
      const CrashPoint point{.operation = operation, .bytes = {}};
      CrashImage image{.point = point,
                       .description = "the process died after " + files->operationName(operation),
                       .files = files->processCrash(point)};
      each(image);
    }
    EXPECT_GT(images, 5U);
  }

  // However far the operation got: restores the session if necessary, and checks that it is intact.
  void expectWhole(World& world, SimFileSystem& files) {
    const auto trash = world->listTrash();
    ASSERT_TRUE(trash) << trash.error().message;
    ASSERT_EQ(trash->size(), isLive(world) ? 0U : 1U) << "it is neither there nor in the trash, or in both";
    if (isLive(world)) {
      ASSERT_EQ(messagesOf(world), expected_);
      EXPECT_TRUE(files.names("/store/trash").empty()) << "it is there, and something of it is in the trash";
    } else {
      EXPECT_FALSE(files.contents(kTornPath)) << "it is in the trash, and something of it is there";
      EXPECT_FALSE(files.contents("/store/archive/a.jsonl.zst"));
    }
    if (!trash->empty()) {
      const auto back = world->restoreSession(trash->front().trashId);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_TRUE(world->listTrash()->empty());
    }
    ASSERT_EQ(messagesOf(world), expected_);
    if (GetParam() == Form::WithTornBytes) {
      EXPECT_EQ(files.contents(kTornPath), kTorn);
    }
    const auto report = world->verifySession("a");
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->problemCount, 0U);
  }

  // The interrupted operation, and everything after it, can be repeated.
  void expectUsable(World& world, SimFileSystem& files) {
    ASSERT_TRUE(world->appendSessionEntries("a", {message("after")}));
    const auto moved = world->trashSession("a");
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_FALSE(isLive(world));
    auto later = powerLossNow(files);
    World last(*later, {}, 5);
    EXPECT_FALSE(isLive(last));
    const auto back = last->restoreSession(moved->trashId);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(messagesOf(last).starts_with(expected_) && messagesOf(last).find("after") != std::string::npos);
  }

  SimFileSystem base_;
  std::string expected_;
};

TEST_P(TrashCrash, ThrownAwayASessionIsThereOrInTheTrash) {
  std::size_t away = 0;
  std::size_t there = 0;
  cutEverywhere(
      base_, [](World& world) { ASSERT_TRUE(world->trashSession("a")); },
      [&](CrashImage& image) {
        World world(*image.files, {}, 3);
        isLive(world) ? ++there : ++away;
        expectWhole(world, *image.files);
        if (!HasFailure()) expectUsable(world, *image.files);
      });
  EXPECT_GT(away, 0U);
  EXPECT_GT(there, 0U);
}

TEST_P(TrashCrash, ThrownAwayAgainASessionIsInTheTrashOnce) {
  cutEverywhere(
      base_, [](World& world) { ASSERT_TRUE(world->trashSession("a")); },
      [&](CrashImage& image) {
        World world(*image.files, {}, 3);
        if (!isLive(world)) return;
        const auto moved = world->trashSession("a");
        ASSERT_TRUE(moved) << moved.error().message;
        const auto trash = world->listTrash();
        ASSERT_TRUE(trash) << trash.error().message;
        ASSERT_EQ(trash->size(), 1U);
        expectWhole(world, *image.files);
      });
}

// The store's own file of torn bytes counts, whatever the interrupted move left of it in the trash.
TEST_P(TrashCrash, ThrownAwayAgainASessionTakesAlongTheTornBytesThatItHasNow) {
  if (GetParam() != Form::WithTornBytes) return;
  for (const std::string_view now : {"", "other bytes"}) {
    cutEverywhere(
        base_, [](World& world) { ASSERT_TRUE(world->trashSession("a")); },
        [&](CrashImage& image) {
          World world(*image.files, {}, 3);
          if (!isLive(world)) return;
          ASSERT_EQ(image.files->contents(kTornPath), kTorn);
          ASSERT_TRUE(image.files->openRoot("/store/sessions", false).value()->remove("a.torn"));
          if (!now.empty()) image.files->put(kTornPath, now);
          const auto moved = world->trashSession("a");
          ASSERT_TRUE(moved) << moved.error().message;
          ASSERT_EQ(world->listTrash()->size(), 1U);
          const auto back = world->restoreSession(moved->trashId);
          ASSERT_TRUE(back) << back.error().message;
          EXPECT_EQ(image.files->contents(kTornPath).value_or(""), now);
          EXPECT_TRUE(image.files->names("/store/trash").empty());
        });
  }
}

TEST_P(TrashCrash, ATrashThatCannotBeReadIsNotTakenForAnEmptyOne) {
  {
    World world(base_, {}, 6);
    ASSERT_TRUE(world->trashSession("a"));
  }
  std::uint64_t calls = 1;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const auto files = base_.processCrash();
    World world(*files, {}, 7);
    const std::uint64_t before = files->callCount();
    files->failOperation(before + call + 1, EIO);
    const auto trash = world->listTrash();
    if (call == 0) calls = std::max<std::uint64_t>(files->callCount() - before, 8);
    EXPECT_TRUE(!trash || trash->size() == 1) << files->callName(before + call + 1);
  }
}

TEST_P(TrashCrash, BroughtBackASessionIsThereOrInTheTrash) {
  std::string trashId;
  {
    World world(base_, {}, 6);
    const auto moved = world->trashSession("a");
    ASSERT_TRUE(moved);
    trashId = moved->trashId;
  }
  cutEverywhere(
      base_, [&](World& world) { ASSERT_TRUE(world->restoreSession(trashId)); },
      [&](CrashImage& image) {
        World world(*image.files, {}, 3);
        expectWhole(world, *image.files);
        if (!HasFailure()) expectUsable(world, *image.files);
      });
}

TEST_P(TrashCrash, BroughtBackASessionLacksNothingWhicheverCallFails) {
  std::string trashId;
  {
    World world(base_, {}, 6);
    const auto moved = world->trashSession("a");
    ASSERT_TRUE(moved);
    trashId = moved->trashId;
  }
  std::uint64_t calls = 0;
  std::size_t back = 0;
  for (std::uint64_t call = 0; call <= calls; ++call) {
    const auto files = base_.processCrash();
    if (call > 0) files->failOperation(call, EIO);
    World world(*files, {}, 7);
    const bool isBack = world.isOpen() && world->restoreSession(trashId);
    calls = std::max(calls, files->callCount());
    files->clearFaults();
    if (!isBack) continue;
    ++back;
    SCOPED_TRACE(call > 0 ? files->callName(call) : "none fails");
    EXPECT_EQ(messagesOf(world), expected_);
    if (GetParam() == Form::WithTornBytes) {
      EXPECT_EQ(files->contents(kTornPath).value_or(""), kTorn);
    }
    EXPECT_TRUE(files->names("/store/trash").empty());
  }
  EXPECT_GT(back, 0U);
}

// After the acknowledgement the session stays away, and the trash can be emptied permanently however often that is
// interrupted.
TEST_P(TrashCrash, EmptyingIsFinishedByTheNextRun) {
  std::string trashId;
  {
    World world(base_, {}, 6);
    const auto moved = world->trashSession("a");
    ASSERT_TRUE(moved);
    trashId = moved->trashId;
  }
  cutEverywhere(
      base_, [&](World& world) { ASSERT_TRUE(world->emptyTrash({trashId})); },
      [&](CrashImage& image) {
        World world(*image.files, {}, 3);
        EXPECT_FALSE(isLive(world));
        const auto left = world->listTrash();
        ASSERT_TRUE(left);
        for (const TrashedSession& each : *left) {
          const auto emptied = world->emptyTrash({each.trashId});
          ASSERT_TRUE(emptied) << emptied.error().message;
        }
        EXPECT_TRUE(image.files->names("/store/trash").empty()) << "something was left behind, unseen";
      });
}

std::string nameOf(const testing::TestParamInfo<Form>& tested) {
  constexpr const char* kNames[] = {"Log", "Archived", "WithTornBytes", "BothLogAndArchive"};
  return kNames[static_cast<std::size_t>(tested.param)];
}

INSTANTIATE_TEST_SUITE_P(Forms, TrashCrash,
                         testing::Values(Form::Log, Form::Archived, Form::WithTornBytes, Form::BothLogAndArchive),
                         nameOf);

}  // namespace
}  // namespace bough
