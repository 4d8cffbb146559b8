// Records: joined, they equal the file, and memory is bounded.
#include "transcript/source/record.h"

#include <gtest/gtest.h>

namespace bough::transcript {
namespace {

// A line of the requested length without an end, then a complete record.
class LongLine : public ByteSource {
 public:
  explicit LongLine(std::uint64_t lineBytes) : left_(lineBytes) {}
  Result<std::size_t> read(std::span<char> out) override {
    if (left_ > 0) {
      const std::size_t count = std::min<std::uint64_t>(out.size(), left_);
      std::fill_n(out.begin(), count, 'x');
      left_ -= count;
      return count;
    }
    const std::size_t count = tail_.copy(out.data(), out.size());
    tail_.remove_prefix(count);
    return count;
  }

 private:
  std::uint64_t left_;
  std::string_view tail_ = "\n{\"type\":\"user\"}\n";
};

// Returns as many bytes as fit.
class LongReads : public ByteSource {
 public:
  explicit LongReads(ByteSource& source) : source_(source) {}
  Result<std::size_t> read(std::span<char> out) override {
    std::size_t count = 0;
    while (count < out.size()) {
      const auto got = source_.read(out.subspan(count));
      if (!got || *got == 0) break;
      count += *got;
    }
    return count;
  }

 private:
  ByteSource& source_;
};

TEST(LineRecords, ALineLongerThanTheLimitIsSkippedAndTheRestIsRead) {
  constexpr std::uint64_t kBytes = kMaxTranscriptLineBytes * 8;
  LongLine source(kBytes);
  LineRecords records(source, [](std::string_view) { return true; });
  auto first = records.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->kind, RecordKind::Skipped);
  EXPECT_EQ((*first)->sizeBytes, kBytes + 1);
  EXPECT_TRUE((*first)->raw.empty());
  auto second = records.next();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->kind, RecordKind::Json);
  EXPECT_EQ((*second)->offset, kBytes + 1);
  EXPECT_EQ((*second)->text, "{\"type\":\"user\"}");
  auto end = records.next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

// Independent of how the bytes arrive and of the size of the buffer.
TEST(LineRecords, ALineIsKeptUpToTheLimitAndNoFurther) {
  for (const std::size_t more : {0U, 1U, 4U << 20}) {
    const std::string line = "{\"type\":\"" + std::string(kMaxTranscriptLineBytes - 11 + more, 'x') + "\"}\n";
    for (const std::size_t beginBytes : {std::size_t{0}, std::size_t{1} << 16, line.size()}) {
      const auto rest = fromMemory(std::string_view(line).substr(beginBytes));
      LongReads source(*rest);
      LineRecords records(source, [](std::string_view) { return true; }, 0, line.substr(0, beginBytes));
      const auto record = records.next();
      ASSERT_TRUE(record && *record);
      EXPECT_EQ((*record)->kind, more == 0 ? RecordKind::Json : RecordKind::Skipped) << more << ' ' << beginBytes;
      EXPECT_EQ((*record)->sizeBytes, line.size());
    }
  }
}

TEST(LineRecords, NulBytesInsideARecordCostOnlyWhatTheyReplaced) {
  using namespace std::string_view_literals;
  const auto bytes =
      "{\"a\":\"one \0\0\0two\"}\n"
      "{\"b\":\0\0 2}\0\n"
      "{\"c\":\"broken\0\0\n"
      "{\"d\":\"\xFF\0\"}\n"
      "{\"e\":\0{\"type\":\"user\"}\n"sv;
  const auto source = fromMemory(bytes);
  LineRecords records(*source, [](std::string_view object) { return object.contains("type"); });
  std::vector<std::string> texts;
  std::string joined;
  for (auto record = records.next(); record && *record; record = records.next()) {
    joined += (*record)->raw;
    texts.push_back((*record)->kind == RecordKind::Json ? std::string((*record)->text) : "damaged");
    if ((*record)->kind == RecordKind::Json) {
      EXPECT_FALSE((*record)->reason.empty() && texts.size() < 5) << texts.back();
    }
  }
  EXPECT_EQ(joined, bytes);
  EXPECT_EQ(texts, (std::vector<std::string>{"{\"a\":\"one \uFFFDtwo\"}", "{\"b\": 2}", "damaged",
                                             "{\"d\":\"\uFFFD\uFFFD\"}", "damaged", "{\"type\":\"user\"}"}));
}

TEST(LineRecords, ARecordThatWasWrittenIntoAnotherOneIsRead) {
  const std::string_view bytes =
      "{\"type\":\"user\",\"text\":\"hel{\"type\":\"assistant\"}lo\"}\n"
      "{\"type\":\"user\",\"inner\":{\"type\":\"assistant\"},\"broken\n";
  const auto source = fromMemory(bytes);
  LineRecords records(*source, [](std::string_view object) { return object.contains("type"); });
  std::vector<std::string> texts;
  for (auto record = records.next(); record && *record; record = records.next()) {
    texts.push_back((*record)->kind == RecordKind::Json ? std::string((*record)->text) : "damaged");
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"damaged", "{\"type\":\"assistant\"}", "damaged", "damaged"}));
}

TEST(LineRecords, JoinedTheyAreTheFileWhereverItIsCut) {
  const std::string bytes = std::string("\xEF\xBB\xBF{\"a\":1}{\"b\":2}\r\n\n{\"torn\":\"x{\"type\":\"user\"}\n") +
                            std::string(5, '\0') + "{\"c\":\"caf\xE9\"}\n[1]\n{\"d\":";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    for (std::size_t cutAt = 0; cutAt <= cut; ++cutAt) {
      const std::string file = bytes.substr(0, cut);
      const auto source = fromMemory(file);
      LineRecords records(*source, [](std::string_view) { return true; }, cutAt);
      std::string joined;
      while (true) {
        auto record = records.next();
        ASSERT_TRUE(record);
        if (!*record) break;
        EXPECT_EQ((*record)->offset, joined.size());
        joined += (*record)->raw;
      }
      ASSERT_EQ(joined, file);
    }
  }
}

}  // namespace
}  // namespace bough::transcript
