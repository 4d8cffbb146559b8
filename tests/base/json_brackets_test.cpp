// The fast search for the end of a container agrees with the strict one whenever that finds an end.

#include "base/json/json_brackets.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/json/json_scan.h"

namespace bough::json {
namespace {

std::optional<std::size_t> strictEnd(std::string_view text) {
  const auto end = skipValue(text, 0);
  return end ? std::optional(*end) : std::nullopt;
}

// The same with copyBrackets; also checks the copy and the checksum.
std::optional<std::size_t> copiedEnd(const std::string& text) {
  std::string copy(text.size(), '\0');
  Crc32c crc;
  crc.add("before");
  Crc32c expected = crc;
  const auto end = copyBrackets(text, copy.data(), crc);
  expected.add(text);
  EXPECT_EQ(copy, text);
  EXPECT_EQ(crc.value(), expected.value());
  return end;
}

TEST(JsonBrackets, EndContainersWhereTheGrammarDoes) {
  for (const std::string text : {R"({})", R"([])", R"({"a":[1,{"b":"}]"}]},"meta":{})", R"({"a":"\"}"} )",
                                 R"({"a":"\\"},"x")", R"([[[]]]])", R"({"a":"\\\"}"})"}) {
    EXPECT_EQ(skipBrackets(text), strictEnd(text)) << text;
    EXPECT_EQ(copiedEnd(text), strictEnd(text)) << text;
  }
}

TEST(JsonBrackets, FindNoEndWhereThereIsNone) {
  for (const std::string text : {"", "1", "\"{}\"", "{", "[", "}", R"({"a":"})", R"({"a":[})", "[}", "{]",
                                 R"({"a":"\"})", R"({\"a":1})", " {}"}) {
    EXPECT_FALSE(skipBrackets(text)) << text;
    EXPECT_FALSE(copiedEnd(text)) << text;
  }
  EXPECT_TRUE(skipBrackets(std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']')));
  EXPECT_FALSE(skipBrackets(std::string(kMaxDepth + 1, '[') + std::string(kMaxDepth + 1, ']')));
}

// Difficult strings at every position of a block of 64 bytes, and across several blocks.
TEST(JsonBrackets, AgreeOnStringsWhereverTheyLie) {
  std::mt19937 random(7);
  const std::string_view pieces[] = {"\\\\", "\\\"", "x", "{", "}", "[", "]", "\\u00e9", "plain text ", "é"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text = R"({"k":[)" + std::string(random() % 70, ' ');
    for (std::size_t strings = random() % 4 + 1; strings > 0; --strings) {
      text += '"';
      for (std::size_t i = random() % 60; i > 0; --i) text += pieces[random() % std::size(pieces)];
      text += strings > 1 ? "\"," : "\"";
    }
    text += "]}";
    const std::size_t end = text.size();
    if (random() % 2 == 0) text += R"(,"meta":{"a":"\"}"})";
    ASSERT_EQ(strictEnd(text), end);
    ASSERT_EQ(skipBrackets(text), end) << text;
    ASSERT_EQ(copiedEnd(text), end) << text;
  }
}

// Runs of backslashes of any length, ending at any position of a block.
TEST(JsonBrackets, CountBackslashesAcrossBlocks) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (std::size_t run = 0; run < 140; ++run) {
      const std::string text = "[\"" + std::string(before, 'x') + std::string(run, '\\') + "\"]";
      ASSERT_EQ(skipBrackets(text), strictEnd(text)) << before << " " << run;
      const std::string closed = text + "\"]";
      ASSERT_EQ(skipBrackets(closed), strictEnd(closed)) << before << " " << run;
      ASSERT_EQ(copiedEnd(closed), strictEnd(closed)) << before << " " << run;
    }
  }
}

// Would take hours if each block searched backwards through the run.
TEST(JsonBrackets, TakeTimeThatGrowsWithTheTextWhateverTheBackslashes) {
  const std::string run(std::size_t{32} << 20, '\\');
  const std::string text = "[\"" + run + "\",\"" + run + "\\\"\"]";
  EXPECT_EQ(skipBrackets(text), text.size());
  EXPECT_EQ(copiedEnd(text), text.size());
}

}  // namespace
}  // namespace bough::json
