#include "log/source/line_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "log/log_support.h"

namespace bough {
namespace {

std::vector<std::string> linesOf(ByteSource& source, std::uint64_t offset = 0) {
  LineReader reader(source, offset);
  std::vector<std::string> lines;
  for (;;) {
    const auto line = reader.next(Crc32c());
    if (!line || !*line) return lines;
    lines.push_back(std::string((*line)->text) + ((*line)->hasEnd ? "\n" : ""));
  }
}

TEST(LineReader, GivesEveryByteOnceWhateverTheSourceGivesAtATime) {
  std::mt19937 random(7);
  std::string bytes;
  std::vector<std::string> expected;
  for (int i = 0; i < 400; ++i) {
    const std::size_t length = random() % 7 == 0 ? random() % 20000 : random() % 90;
    expected.push_back(std::string(length, static_cast<char>('a' + i % 26)) + "\n");
    bytes += expected.back();
  }
  expected.emplace_back("no line end");
  bytes += expected.back();
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{4095}, std::size_t{4096}, SIZE_MAX}) {
    StringSource source(bytes, piece);
    EXPECT_EQ(linesOf(source), expected) << piece;
  }
}

TEST(LineReader, FindsLineEndsAtBufferBoundaries) {
  // The smallest buffer is 4 KiB, the largest step 1 MiB.
  for (const std::size_t boundary : {std::size_t{4} << 10, std::size_t{1} << 20, std::size_t{2} << 20}) {
    for (const std::size_t length : {boundary - 2, boundary - 1, boundary, boundary + 1}) {
      const std::string first(length, 'x');
      StringSource source(first + "\nsecond\n");
      EXPECT_EQ(linesOf(source), (std::vector<std::string>{first + "\n", "second\n"})) << length;
    }
  }
}

TEST(LineReader, StartsInTheMiddle) {
  StringSource source("one\ntwo\nthree");
  EXPECT_EQ(linesOf(source, 4), (std::vector<std::string>{"two\n", "three"}));
  EXPECT_TRUE(linesOf(source, 13).empty());
  EXPECT_TRUE(linesOf(source, 99).empty());
}

TEST(LineReader, SumsOnTheWay) {
  const std::string text(100'000, 'q');
  StringSource source(std::string(text).append("\n"), 777);
  LineReader reader(source, 0);
  const auto line = reader.next(Crc32c());
  ASSERT_TRUE(line && *line);
  Crc32c rest = (*line)->sweep.crc;
  EXPECT_LE((*line)->sweep.summed, text.size() - LineSweep::kHeldBack);
  rest.add(std::string_view(text).substr((*line)->sweep.summed));
  Crc32c all;
  all.add(text);
  EXPECT_EQ(rest.value(), all.value());
}

// A long line of a single letter, then another line; generated while it is read.
class LongLineSource final : public ByteSource {
 public:
  explicit LongLineSource(std::uint64_t longBytes) : longBytes_(longBytes) {}
  SysResult<std::uint64_t> size() override { return longBytes_ + kRest.size(); }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    widest = std::max(widest, out.size());
    if (offset < longBytes_) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), longBytes_ - offset));
      std::memset(out.data(), 'x', count);
      if (count == out.size()) return count;
      const std::size_t more = std::min(out.size() - count, kRest.size());
      std::memcpy(out.data() + count, kRest.data(), more);
      return count + more;
    }
    const std::string_view rest = kRest.substr(std::min<std::size_t>(offset - longBytes_, kRest.size()));
    const std::size_t count = std::min(out.size(), rest.size());
    std::memcpy(out.data(), rest.data(), count);
    return count;
  }

  static constexpr std::string_view kRest = "\nnext\nlast\n";
  std::size_t widest = 0;

 private:
  std::uint64_t longBytes_;
};

// Just above the limit, the end of the line is already in the buffer; far above, it is not.
TEST(LineReader, ALineThatIsTooLongCostsOnlyItself) {
  for (const std::uint64_t length : {kMaxLineBytes + 1, kMaxLineBytes + (std::size_t{1} << 19),
                                     kMaxLineBytes + (std::size_t{1} << 20), 3 * kMaxLineBytes}) {
    LongLineSource source(length);
    LineReader reader(source, 0);
    auto line = reader.next(Crc32c());
    ASSERT_TRUE(line && *line);
    EXPECT_TRUE((*line)->tooLong);
    EXPECT_EQ((*line)->length, length);
    EXPECT_TRUE((*line)->hasEnd);
    EXPECT_LE((*line)->text.size(), 4096U);
    line = reader.next(Crc32c());
    ASSERT_TRUE(line && *line);
    EXPECT_EQ((*line)->text, "next") << length;
    EXPECT_EQ((*line)->offset, length + 1);
    line = reader.next(Crc32c());
    ASSERT_TRUE(line && *line);
    EXPECT_EQ((*line)->text, "last");
    EXPECT_LE(source.widest, kMaxLineBytes + (std::size_t{2} << 20)) << "memory is bounded";
  }
}

TEST(LineReader, ALineOfTheGreatestLengthIsGivenWhole) {
  LongLineSource source(kMaxLineBytes);
  LineReader reader(source, 0);
  const auto line = reader.next(Crc32c());
  ASSERT_TRUE(line && *line);
  EXPECT_FALSE((*line)->tooLong);
  EXPECT_EQ((*line)->text.size(), kMaxLineBytes);
}

}  // namespace
}  // namespace bough
