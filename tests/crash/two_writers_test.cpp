// A writer releases the file before its batch is durable. Another writer comes in between, and the power fails at any
// moment: every acknowledged batch must exist afterwards.

#include <gtest/gtest.h>

#include <algorithm>

#include "crash/ledger.h"

namespace bough {
namespace {

using Ids = std::vector<std::string>;

Ids idsOf(World& world) {
  const auto entries = world->loadSessionEntries("a");
  if (!entries) return {"unreadable: " + entries.error().message};
  Ids ids;
  for (const Entry& entry : *entries) {
    if (entry.type == entry_type::kMessage) ids.push_back(entry.id);
  }
  return ids;
}

// The crash images starting with the first writer's write.
class TwoWriters : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(first_->createSession({.sessionId = "a"}));
    ASSERT_TRUE(first_->appendSessionEntries("a", {message("begin", 300)}));
    began_ = files_.operationCount();
    files_.beforeSync([this] { second(); });
    const auto appended = first_->appendSessionEntries("a", {message("first1", 700), message("first2")});
    firstAcked_ = appended ? files_.operationCount() : UINT64_MAX;
  }

  // Runs between the first writer's write and its sync.
  virtual void second() {
    const auto appended = second_->appendSessionEntries("a", {message("second1"), message("second2", 900)});
    ASSERT_TRUE(appended) << appended.error().message;
    secondAcked_ = files_.operationCount();
  }

  void checkAll() {
    const Ids all = {"begin", "first1", "first2", "second1", "second2"};
    std::size_t images = 0;
    files_.forEachCrash({.firstOperation = began_, .writeStepBytes = 97}, [&](CrashImage& image) {
      if (HasFailure()) return;
      SCOPED_TRACE(image.description);
      ++images;
      const std::uint64_t completed = image.point.completed();
      World world(*image.files, {}, 7);
      const Ids found = idsOf(world);
      EXPECT_TRUE(found.size() == 1 || found.size() == 3 || found.size() == 5) << "half a batch";
      EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin())) << "not a prefix";
      EXPECT_TRUE(completed < firstAcked_ || found.size() >= 3U) << "the first one's batch is lost";
      EXPECT_TRUE(completed < secondAcked_ || found.size() == 5U) << "the second one's batch is lost";
      ASSERT_TRUE(world->appendSessionEntries("a", {message("after")}));
      Ids more = found;
      more.emplace_back("after");
      EXPECT_EQ(idsOf(world), more);
      EXPECT_EQ(world->verifySession("a")->problemCount, 0U);
    });
    EXPECT_GT(images, 100U);
  }

  SimFileSystem files_;
  World first_{files_, {}, 1};
  World second_{files_, {}, 2};
  std::uint64_t began_ = 0;
  std::uint64_t firstAcked_ = UINT64_MAX;
  std::uint64_t secondAcked_ = UINT64_MAX;
};

TEST_F(TwoWriters, LoseNothingAcknowledged) {
  ASSERT_NE(firstAcked_, UINT64_MAX);
  ASSERT_NE(secondAcked_, UINT64_MAX);
  checkAll();
}

// The same, but the first writer's sync fails after the second writer came.
class FirstFails : public TwoWriters {
 protected:
  void second() override {
    TwoWriters::second();
    files_.failSync();
  }
};

TEST_F(FirstFails, LoseNothingAcknowledged) {
  ASSERT_EQ(firstAcked_, UINT64_MAX);
  ASSERT_NE(secondAcked_, UINT64_MAX);
  checkAll();
}

// The second writer repeats the first writer's batch, as after a lost answer, and finds it stored.
class FirstFailsAndIsRepeated : public TwoWriters {
 protected:
  void second() override {
    const auto repeated = second_->appendSessionEntries("a", {message("first1", 700), message("first2")});
    ASSERT_TRUE(repeated) << repeated.error().message;
    EXPECT_EQ(repeated->duplicateCount, 2U);
    firstAcked_ = repeatedAt_ = files_.operationCount();
    files_.failSync();
  }

  std::uint64_t repeatedAt_ = UINT64_MAX;
};

TEST_F(FirstFailsAndIsRepeated, LoseNothingAcknowledged) {
  ASSERT_EQ(firstAcked_, UINT64_MAX) << "the first one does not know";
  ASSERT_NE(repeatedAt_, UINT64_MAX);
  firstAcked_ = repeatedAt_;
  checkAll();
}

// The second writer forks from an entry that is not durable yet.
TEST(ForkOfWhatIsWritten, IsDurableWithItsParent) {
  SimFileSystem files;
  World first(files, {}, 1);
  World second(files, {}, 2);
  ASSERT_TRUE(first->createSession({.sessionId = "a"}));
  ASSERT_TRUE(first->appendSessionEntries("a", {message("begin")}));
  const std::uint64_t began = files.operationCount();
  std::uint64_t forkedAt = UINT64_MAX;
  files.beforeSync([&] {
    ASSERT_TRUE(second->branchFromEntry("a", "written", {.sessionId = "f"}));
    forkedAt = files.operationCount();
  });
  ASSERT_TRUE(first->appendSessionEntries("a", {message("written", 700)}));
  ASSERT_NE(forkedAt, UINT64_MAX);
  std::size_t images = 0;
  files.forEachCrash({.firstOperation = began, .writeStepBytes = 97}, [&](CrashImage& image) {
    if (image.point.completed() < forkedAt) return;
    SCOPED_TRACE(image.description);
    ++images;
    World world(*image.files, {}, 7);
    const auto entries = world->loadSessionEntries("f");
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(entries->back().id, "written");
  });
  EXPECT_GT(images, 1U);
}

// A reader takes no lock. During its read, a writer sets torn bytes aside and writes in their place: a mixture of both
// must not count as damage.
TEST(ReaderOfTornBytes, SeesNoDamageWhereAWriterSetsThemAside) {
  constexpr std::uint64_t kMostReads = 60;
  std::size_t came = 0;
  for (std::uint64_t nth = 1; nth <= kMostReads; ++nth) {
    SCOPED_TRACE(nth);
    SimFileSystem files;
    {
      World world(files, {}, 1);
      ASSERT_TRUE(world->createSession({.sessionId = "a"}));
      ASSERT_TRUE(world->appendSessionEntries("a", {message("begin", 300)}));
    }
    const std::string path = "/store/sessions/a.jsonl";
    const std::string sound = files.contents(path).value();
    {
      World world(files, {}, 2);
      ASSERT_TRUE(world->appendSessionEntries("a", {message("torn", 2000)}));
    }
    const std::string longer = files.contents(path).value();
    files.put(path, longer.substr(0, sound.size() + 1000));
    World reader(files, {}, 3);
    bool acted = false;
    files.beforeRead(nth, [&] {
      acted = true;
      World writer(files, {}, 4);
      for (const char* const id : {"next", "last"}) {
        ASSERT_TRUE(writer->appendSessionEntries("a", {message(id, 900), message(id + std::string("2"), 700)}));
      }
    });
    const auto state = reader->sessionState("a");
    ASSERT_TRUE(state) << state.error().message;
    came += acted ? 1 : 0;
    EXPECT_EQ(state->problemCount, 0U);
    const std::size_t first = idsOf(reader).size();
    EXPECT_TRUE(first == 1U || first == 5U) << first;
    EXPECT_EQ(idsOf(reader).size(), acted ? 5U : 1U);
    EXPECT_EQ(reader->sessionState("a")->problemCount, 0U);
  }
  EXPECT_GT(came, 3U);
}

}  // namespace
}  // namespace bough
