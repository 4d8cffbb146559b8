// Lines over the size limit: only these lines are skipped.

#include "log/source/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/text_source.h"

namespace bough {
namespace {

std::vector<LineReader::Line> linesOf(const std::string& bytes) {
  TextSource source(bytes);
  LineReader reader(source, 0);
  std::vector<LineReader::Line> lines;
  for (;;) {
    const auto line = reader.next({});
    EXPECT_TRUE(line.has_value());
    if (!line || !*line) return lines;
    lines.push_back(**line);
  }
}

TEST(LongLines, ALineJustPastTheLimitIsSteppedOverAlone) {
  for (const std::size_t beyond : {std::size_t{1}, std::size_t{1} << 19, std::size_t{3} << 20}) {
    const std::string longLine(kMaxLineBytes + beyond, 'x');
    const auto lines = linesOf("first\n" + longLine + "\nnext\nlast\n");
    ASSERT_EQ(lines.size(), 4U) << beyond;
    EXPECT_TRUE(lines[1].tooLong);
    EXPECT_TRUE(lines[1].hasEnd);
    EXPECT_EQ(lines[1].length, longLine.size());
    EXPECT_EQ(lines[2].offset, 6 + longLine.size() + 1);
    EXPECT_EQ(lines[2].length, 4U);
    EXPECT_FALSE(lines[3].tooLong);
  }
}

TEST(LongLines, ALineOfExactlyTheLimitIsRead) {
  const auto lines = linesOf(std::string(kMaxLineBytes, 'x').append("\nnext\n"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_FALSE(lines[0].tooLong);
  EXPECT_EQ(lines[0].length, kMaxLineBytes);
}

TEST(LongLines, ALongLineWithoutAnEndIsTooLong) {
  const auto lines = linesOf("first\n" + std::string(kMaxLineBytes + 7, 'x'));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[1].tooLong);
  EXPECT_FALSE(lines[1].hasEnd);
  EXPECT_EQ(lines[1].length, kMaxLineBytes + 7);
}

}  // namespace
}  // namespace bough
