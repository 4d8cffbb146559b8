#include <gtest/gtest.h>

#include <map>

#include "base/system/file_system.h"
#include "log/index/index_file.h"
#include "log/index/offset_index.h"
#include "log/log_support.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

std::string idAt(std::size_t i) {
  return "entry-" + std::to_string(i * 7919);
}

// An index of invented entries: entry i is at offset 100 * i.
class IndexWorld {
 public:
  explicit IndexWorld(std::uint64_t seed = 42) : index(seed) {}

  OffsetIndex::ConfirmId confirmer() {
    return [this](const IndexRecord& record, std::string_view id) {
      ++confirmed;
      return idAt(record.offset / 100) == id ? IdMatch::Same : IdMatch::Different;
    };
  }
  bool add(std::size_t i, std::optional<std::size_t> parent = {}, std::string_view type = "message",
           const std::string& text = {}) {
    const std::string id = idAt(i);
    const std::string parentId = parent ? idAt(*parent) : "";
    ScannedLine line{.offset = i * 100, .length = 90, .keys = {}, .chained = true, .text = text};
    line.keys.id = id;
    if (parent) line.keys.parentId = parentId;
    line.keys.type = type;
    const bool added = index.add(line, confirmer());
    if (added) index.setScanState({.offset = i * 100 + 100, .lastSeal = std::nullopt, .lacksLineEnd = false});
    return added;
  }
  std::optional<Sequence> find(std::size_t i) { return index.find(idAt(i), confirmer()); }

  OffsetIndex index;
  std::size_t confirmed = 0;
};

class IndexTest : public testing::Test {
 protected:
  std::unique_ptr<Directory> folder() { return files.openRoot("/store", true).value(); }
  SimFileSystem files;
};

constexpr std::size_t kMany = 100'000;

TEST_F(IndexTest, FindsEachOfManyIdsAndNoOther) {
  IndexWorld world;
  for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(world.add(i, i == 0 ? std::nullopt : std::optional(i - 1)));
  const auto check = [&] {
    world.confirmed = 0;
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(world.find(i), static_cast<Sequence>(i));
    EXPECT_LT(world.confirmed, kMany + 10) << "hashes tell ids apart without looking at the log";
    for (std::size_t i = kMany; i < kMany + 1000; ++i) ASSERT_FALSE(world.find(i));
    for (Sequence i = 1; i < kMany; i += 997) ASSERT_EQ(world.index.record(i).parent, i - 1);
  };
  check();
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  auto file = IndexFile::open(*folder(), "a.idx");
  ASSERT_TRUE(file);
  world.index = OffsetIndex(std::move(file));
  EXPECT_EQ(world.index.summary().count, kMany);
  check();
}

TEST_F(IndexTest, ASecondEntryOfAnIdIsLeftOut) {
  IndexWorld world;
  ASSERT_TRUE(world.add(1));
  EXPECT_FALSE(world.add(1));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  world.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  EXPECT_FALSE(world.add(1)) << "also when the first one is in the file";
  EXPECT_EQ(world.index.summary().count, 1U);
}

TEST_F(IndexTest, IdsThatComeInOrderAreFoundAsOthersAre) {
  IndexWorld world;
  for (const std::size_t i : {2U, 3U, 4U, 5U}) ASSERT_TRUE(world.add(i));
  EXPECT_FALSE(world.add(3)) << "an earlier one again";
  EXPECT_FALSE(world.add(5)) << "the last one again";
  ASSERT_TRUE(world.add(1)) << "one before them";
  ASSERT_TRUE(world.add(6, 2));
  EXPECT_EQ(world.index.record(5).parent, 0U);
  EXPECT_FALSE(world.add(1));
  Sequence expected = 0;
  for (const std::size_t i : {2U, 3U, 4U, 5U, 1U, 6U}) EXPECT_EQ(world.find(i), expected++);
  EXPECT_FALSE(world.find(7));
}

TEST_F(IndexTest, RenamedRecordsAreFoundByTheirNewIdsAlone) {
  constexpr std::uint64_t kCount = 3000;
  FreshRecords records;
  const auto any = [](const IndexRecord&) { return true; };
  for (std::uint64_t i = 0; i < kCount; ++i) {
    records.add({.idHash = i});
    EXPECT_EQ(records.find(i, any), i);
    records.rename(i, i * 2 + kCount);
  }
  for (std::uint64_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(records.find(i * 2 + kCount, any), i);
    EXPECT_FALSE(records.find(i, any));
  }
}

TEST_F(IndexTest, ParentsAreFoundAcrossTheFileAndWhatIsNew) {
  IndexWorld world;
  ASSERT_TRUE(world.add(0));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  world.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  ASSERT_TRUE(world.add(1, 0));
  ASSERT_TRUE(world.add(2, 77));
  ASSERT_TRUE(world.add(3));
  EXPECT_EQ(world.index.record(1).parent, 0U);
  EXPECT_EQ(world.index.record(2).parent, kElsewhere);
  EXPECT_EQ(world.index.record(3).parent, kNoSequence);
}

TEST_F(IndexTest, ExtensionsAreReadBack) {
  IndexWorld world;
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(world.add(i));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  world.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  for (std::size_t part = 0; part < 5; ++part) {
    for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(world.add(300 + part * 50 + i));
    EXPECT_GT(world.index.unsavedBytes(), 0U);
    ASSERT_TRUE(world.index.extendFile());
    EXPECT_EQ(world.index.unsavedBytes(), 0U);
  }
  IndexWorld again;
  again.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  EXPECT_EQ(again.index.summary().count, 550U);
  for (std::size_t i = 0; i < 550; ++i) ASSERT_EQ(again.find(i), static_cast<Sequence>(i));
}

TEST_F(IndexTest, AHalfWrittenExtensionIsLeftOut) {
  IndexWorld world;
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(world.add(i));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  const std::size_t baseBytes = files.contents("/store/a.idx")->size();
  world.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  for (std::size_t i = 10; i < 20; ++i) ASSERT_TRUE(world.add(i));
  ASSERT_TRUE(world.index.extendFile());
  const std::string whole = *files.contents("/store/a.idx");
  for (std::size_t cut = baseBytes; cut < whole.size(); cut += 13) {
    files.put("/store/b.idx", whole.substr(0, cut));
    auto file = IndexFile::open(*folder(), "b.idx");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->totalCount(), 10U) << cut;
  }
  for (std::size_t at = baseBytes; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    files.put("/store/b.idx", damaged);
    auto file = IndexFile::open(*folder(), "b.idx");
    ASSERT_TRUE(file);
    // Only the four bytes after the checksum have no meaning.
    if (file->totalCount() != 10U) {
      EXPECT_EQ(file->totalCount(), 20U);
      EXPECT_GE(at, baseBytes + 60);
      EXPECT_LT(at, baseBytes + 64);
    }
  }
}

TEST_F(IndexTest, DamageShowsAndNeverAnswersWrongly) {
  IndexWorld world;
  for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(world.add(i));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  const std::string whole = *files.contents("/store/a.idx");
  for (std::size_t at = 0; at < whole.size(); at += 211) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    files.put("/store/b.idx", damaged);
    auto file = IndexFile::open(*folder(), "b.idx");
    if (!file) continue;
    IndexWorld broken;
    broken.index = OffsetIndex(std::move(file));
    for (std::size_t i = 0; i < 500; ++i) {
      const auto found = broken.find(i);
      if (found) {
        ASSERT_EQ(*found, i);
      } else {
        ASSERT_TRUE(broken.index.damaged()) << "byte " << at << ", entry " << i;
      }
    }
  }
}

TEST_F(IndexTest, FilesThatAreNoIndexAreNotOpened) {
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(4096, '\0'), std::string(100'000, 'a')}) {
    files.put("/store/a.idx", bytes);
    EXPECT_FALSE(IndexFile::open(*folder(), "a.idx"));
  }
  EXPECT_FALSE(IndexFile::open(*folder(), "missing.idx"));
  IndexWorld world;
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(world.add(i));
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  const std::string whole = *files.contents("/store/a.idx");
  for (const std::size_t cut : {std::size_t{50}, std::size_t{4096}, whole.size() - 1}) {
    files.put("/store/a.idx", whole.substr(0, cut));
    EXPECT_FALSE(IndexFile::open(*folder(), "a.idx")) << cut;
  }
  std::string newer = whole;
  newer[8] = 9;
  files.put("/store/a.idx", newer);
  EXPECT_FALSE(IndexFile::open(*folder(), "a.idx"));
}

TEST_F(IndexTest, WantsToBeRewrittenWhenMuchWasAdded) {
  IndexWorld world;
  ASSERT_TRUE(world.add(0));
  EXPECT_FALSE(world.index.shouldRewrite()) << "there is no file yet";
  ASSERT_TRUE(IndexFile::write(*folder(), "a.idx", world.index, 1));
  world.index = OffsetIndex(IndexFile::open(*folder(), "a.idx"));
  for (std::size_t i = 1; i <= 4096; ++i) ASSERT_TRUE(world.add(i));
  EXPECT_FALSE(world.index.shouldRewrite());
  ASSERT_TRUE(world.add(4097));
  EXPECT_TRUE(world.index.shouldRewrite());
}

TEST_F(IndexTest, TheHeadFollowsEntriesAndHeadMoves) {
  IndexWorld world;
  ASSERT_TRUE(world.add(0, {}, "session_header", R"({"payload":{}})"));
  EXPECT_EQ(world.index.summary().head, kNoSequence);
  ASSERT_TRUE(world.add(1));
  ASSERT_TRUE(world.add(2, 1));
  EXPECT_EQ(world.index.summary().head, 2U);
  ASSERT_TRUE(world.add(3, 2, "label", R"({"payload":{}})"));
  EXPECT_EQ(world.index.summary().head, 2U);
  ASSERT_TRUE(world.add(4, 2, "head", "{\"payload\":{\"entryId\":\"" + idAt(1) + "\"}}"));
  EXPECT_EQ(world.index.summary().head, 1U);
  ASSERT_TRUE(world.add(5, 2, "head", R"({"payload":{"entryId":"of-the-parent"}})"));
  EXPECT_EQ(world.index.summary().head, kElsewhere);
  EXPECT_EQ(world.index.summary().headEntry, 5U);
  ASSERT_TRUE(world.add(6, 2, "head", R"({"payload":{"entryId":null}})"));
  EXPECT_EQ(world.index.summary().head, kNoSequence);
  ASSERT_TRUE(world.add(7, 1, "no_known_type"));
  EXPECT_EQ(world.index.summary().head, 7U);
}

}  // namespace
}  // namespace bough
