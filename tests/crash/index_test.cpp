// The index is derived data: whether it is missing, old, truncated, damaged or from another file, every answer is the
// same as without it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes/crc32c.h"
#include "crash/ledger.h"

namespace bough {
namespace {

const std::string kIndex = "/store/sessions/a.idx";
const std::string kLog = "/store/sessions/a.jsonl";
constexpr StoreOptions kOptions{.attachmentBytes = std::size_t{1} << 20};

// All answers of a store about session a, as one text.
class Answers {
 public:
  Answers(int entries, int every) : entries_(entries), every_(every) {}

  std::string of(SimFileSystem& files, bool cached = false) const {
    std::string text = exported(files);
    World world(files, {.attachmentBytes = std::size_t{1} << 20, .create = false}, 9);
    EXPECT_TRUE(world.isOpen());
    text += state(world);
    text += branches(world);
    for (int i = 0; i < entries_; i += every_) text += entry(world, fmt::format("m{}", i));
    text += entry(world, "missing");
    text += list("types", world->loadSessionEntries("a", {.type = "head"}));
    text += list("last", world->loadSessionEntries("a", {.last = 3}));
    text += list("all", world->loadSessionEntries("a"));
    return cached ? text + of(files) : text;
  }

 private:
  // Uses a separate store, for which this is the first use of the index.
  static std::string exported(SimFileSystem& files) {
    World world(files, {.attachmentBytes = std::size_t{1} << 20, .create = false}, 8);
    Crc32c crc;
    const auto done = world->exportSession("a", [&](std::string_view line) {
      crc.add(line);
      return true;
    });
    return done ? fmt::format("lines {}\n", crc.value()) : done.error().message + "\n";
  }
  static std::string state(World& world) {
    const auto known = world->sessionState("a");
    if (!known) return known.error().message + "\n";
    return fmt::format("{} {} {} {} {}\n", known->entryCount, known->tailId, known->headId, known->trailingBytes,
                       known->problemCount);
  }
  static std::string list(std::string_view what, const Result<std::vector<Entry>>& entries) {
    if (!entries) return fmt::format("{}: {}\n", what, entries.error().message);
    Crc32c crc;
    for (const Entry& entry : *entries) {
      crc.add(entry.id);
      crc.add(entry.parentId.value_or("(none)"));
      crc.add(entry.payload);
    }
    return fmt::format("{}: {} {}\n", what, entries->size(), crc.value());
  }
  static std::string entry(World& world, const std::string& id) {
    const auto found = world->loadEntry("a", id);
    return found ? fmt::format("{} {} {}\n", found->id, *found->parentId, found->payload.size())
                 : fmt::format("{}\n", found.error().message);
  }
  std::string branches(World& world) const {
    return list("branch", world->loadSessionEntries("a", {.branch = fmt::format("m{}", entries_ - 1)})) +
           list("end of branch",
                world->loadSessionEntries("a", {.last = 5, .branch = fmt::format("m{}", entries_ / 2)}));
  }

  int entries_;
  int every_;
};

// A log with an index file of several blocks and an extension, and a rest that the index does not cover.
void fill(SimFileSystem& files, int entries, std::size_t payloadBytes, const std::string& prefix = "m") {
  {
    World world(files, kOptions);
    ASSERT_TRUE(world->createSession({.sessionId = "a"}));
    std::vector<Entry> batch;
    for (int i = 0; i < entries / 2; ++i) batch.push_back(message(prefix + std::to_string(i), payloadBytes));
    ASSERT_TRUE(world->appendSessionEntries("a", batch));
    ASSERT_TRUE(world->moveHead("a", fmt::format("{}{}", prefix, entries / 4)));
  }
  ASSERT_FALSE(files.contents(kIndex));
  World world(files, kOptions, 2);
  ASSERT_TRUE(world->loadSessionEntries("a", {.last = 1}));
  ASSERT_TRUE(files.contents(kIndex)) << "no index file was made";
  const std::size_t before = files.contents(kIndex)->size();
  for (int i = entries / 2; i < entries - 1; i += 100) {
    std::vector<Entry> batch;
    for (int j = i; j < std::min(i + 100, entries - 1); ++j) {
      batch.push_back(message(prefix + std::to_string(j), payloadBytes));
    }
    ASSERT_TRUE(world->appendSessionEntries("a", batch));
  }
  ASSERT_GT(files.contents(kIndex)->size(), before) << "the index was not extended";
  ASSERT_TRUE(world->moveHead("a", prefix + "1"));
  ASSERT_TRUE(world->appendSessionEntries("a", {message(fmt::format("{}{}", prefix, entries - 1), payloadBytes)}));
}

class Index : public testing::Test {
 protected:
  // Large entries, so that the index is small: one block of records, one of ids, an extension.
  void fillSmall() { fill(files_, 40, 14'000); }
  void fillLarge() { fill(files_, 4000, 250); }

  std::string withoutIndex(const Answers& answers) {
    auto copy = files_.processCrash();
    copy->put(kIndex, "");
    std::string text = answers.of(*copy);
    EXPECT_EQ(text.find("cannot"), std::string::npos) << text;
    return text;
  }
  std::string with(const std::string& index, const Answers& answers) {
    auto copy = files_.processCrash();
    copy->put(kIndex, index);
    return answers.of(*copy, true);
  }

  SimFileSystem files_;
};

TEST_F(Index, GivesTheAnswersOfTheLog) {
  fillLarge();
  const Answers answers(4000, 37);
  const std::string expected = withoutIndex(answers);
  EXPECT_EQ(answers.of(files_), expected);
  std::size_t reads = 0;
  for (std::uint64_t call = 1; call <= files_.callCount(); ++call) {
    if (files_.callName(call).starts_with("read sessions/a.idx")) ++reads;
  }
  EXPECT_GT(reads, 20U) << "the index was not used";
}

TEST_F(Index, MayHaveAnyByteFlipped) {
  fillSmall();
  const Answers answers(40, 13);
  const std::string expected = withoutIndex(answers);
  const std::string index = files_.contents(kIndex).value();
  ASSERT_LT(index.size(), 20'000U);
  for (std::size_t at = 0; at < index.size(); at += at < 200 || at + 1500 > index.size() ? 1U : 7U) {
    std::string damaged = index;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << at % 8));
    auto copy = files_.processCrash();
    copy->put(kIndex, damaged);
    ASSERT_EQ(answers.of(*copy), expected) << "byte " << at;
  }
}

TEST_F(Index, MayBeCutOffAnywhere) {
  fillSmall();
  const Answers answers(40, 13);
  const std::string expected = withoutIndex(answers);
  const std::string index = files_.contents(kIndex).value();
  for (std::size_t size = 0; size < index.size(); size += 131) {
    ASSERT_EQ(with(index.substr(0, size), answers), expected + expected) << "cut at " << size;
  }
}

// Once with a rest of the log after the index, which is scanned first, and once without.
TEST_F(Index, MayHaveZeroedBlocksOrBlocksThatChangedPlaces) {
  fillLarge();
  const Answers answers(4000, 37);
  const std::string expected = withoutIndex(answers);
  for (const bool complete : {false, true}) {
    if (complete) {
      World world(files_, kOptions, 5);
      ASSERT_TRUE(world->repairSession("a"));
    }
    const std::string index = files_.contents(kIndex).value();
    ASSERT_GT(index.size(), 20U * 4096);
    for (std::size_t block = 0; block * 4096 < index.size(); ++block) {
      std::string damaged = index;
      const std::size_t bytes = std::min<std::size_t>(4096, index.size() - block * 4096);
      damaged.replace(block * 4096, bytes, std::string(bytes, '\0'));
      ASSERT_EQ(with(damaged, answers), expected + expected) << "block " << block << ", complete " << complete;
      if (block < 2 || bytes < 4096) continue;
      damaged = index;
      damaged.replace(block * 4096, 4096, index.substr((block - 1) * 4096, 4096));
      ASSERT_EQ(with(damaged, answers), expected + expected) << "block " << block << " is the one before it";
    }
  }
}

TEST_F(Index, MayBeOlderThanTheLog) {
  fillLarge();
  const Answers answers(4000, 37);
  const std::string older = files_.contents(kIndex).value();
  for (std::uint64_t i = 0; i < 3; ++i) {
    World world(files_, kOptions, 5 + i);
    ASSERT_TRUE(world->appendSessionEntries("a", {message("later" + std::to_string(i), 300'000)}));
    ASSERT_TRUE(world->moveHead("a", "m7"));
  }
  const std::string expected = withoutIndex(answers);
  EXPECT_EQ(with(older, answers), expected + expected);
}

TEST_F(Index, MayBeOfANewerVersionOrAnotherFile) {
  fillSmall();
  const Answers answers(40, 13);
  const std::string expected = withoutIndex(answers);
  std::string newer = files_.contents(kIndex).value();
  newer[8] = 3;
  EXPECT_EQ(with(newer, answers), expected + expected);
  EXPECT_EQ(with("not an index\n", answers), expected + expected);

  SimFileSystem others;
  fill(others, 40, 14'000, "x");
  EXPECT_EQ(with(others.contents(kIndex).value(), answers), expected + expected);
  // The same entries, made at another time: all offsets match, only the seals differ.
  SimFileSystem twin;
  fill(twin, 40, 14'000);
  EXPECT_EQ(with(twin.contents(kIndex).value(), answers), expected + expected);
}

// When the bytes of a damaged log are restored, it has the same size and end as before. Neither its index nor a handle
// that was open meanwhile may report the damage any more.
TEST_F(Index, OfADamagedLogEndsWhenTheLogIsRestored) {
  fillSmall();
  const Answers answers(40, 13);
  const std::string log = files_.contents(kLog).value();
  const std::string expected = withoutIndex(answers);
  std::string damaged = log;
  damaged[log.size() / 2] ^= 1;
  files_.put(kLog, damaged);
  files_.put(kIndex, "");
  const std::string lacking = answers.of(files_);
  EXPECT_NE(lacking, expected);
  EXPECT_FALSE(files_.contents(kIndex)->empty()) << "no index was made of the damaged log";
  EXPECT_EQ(answers.of(files_), lacking);

  World open(files_, kOptions, 3);
  EXPECT_TRUE(open->loadSessionEntries("a"));
  files_.put(kLog, log);
  EXPECT_EQ(open->loadSessionEntries("a")->size(), 43U);
  EXPECT_EQ(answers.of(files_), expected);
}

// For such lines, only the index could know the earlier content.
TEST_F(Index, OfLinesWithoutSealsEndsWhenTheyAreEdited) {
  std::string log;
  for (int i = 0; i < 40; ++i) {
    log += fmt::format(R"({{"id":"m{}","parentId":{},"type":"message","payload":{{"text":"{}"}}}})", i,
                       i == 0 ? "null" : fmt::format("\"m{}\"", i - 1), std::string(14'000, 'x'));
    log += '\n';
  }
  (void)World(files_, kOptions)->close();
  files_.put(kLog, log);
  const Answers answers(40, 13);
  const std::string before = answers.of(files_);
  ASSERT_FALSE(files_.contents(kIndex).value_or("").empty()) << "no index was made";
  EXPECT_EQ(answers.of(files_), before);
  const std::string parent = R"("id":"m20","parentId":"m19")";
  log.replace(log.find(parent), parent.size(), R"("id":"m20","parentId":"m10")");
  files_.put(kLog, log);
  const std::string expected = withoutIndex(answers);
  EXPECT_NE(expected, before);
  EXPECT_EQ(answers.of(files_), expected);
}

// An append based on a damaged index would itself cause damage.
TEST_F(Index, ThatIsDamagedMisleadsNoAppend) {
  fillSmall();
  const std::string index = files_.contents(kIndex).value();
  for (std::size_t at = 0; at < index.size(); at += 97) {
    std::string damaged = index;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    auto copy = files_.processCrash();
    copy->put(kIndex, damaged);
    World world(*copy, kOptions, 5);
    const auto repeated = world->appendSessionEntries("a", {message("m3", 14'000)});
    ASSERT_TRUE(repeated && repeated->duplicateCount == 1) << "byte " << at;
    EXPECT_EQ(world->appendSessionEntries("a", {message("m4", 30)}).error().code, ErrorCode::IdConflict);
    const auto tail = world->appendSessionEntries("a", {message("new")}, {.expectedTail = "m39"});
    ASSERT_TRUE(tail) << "byte " << at << ": " << tail.error().message;
    const auto report = world->verifySession("a");
    ASSERT_TRUE(report && report->problemCount == 0);
  }
}

}  // namespace
}  // namespace bough
