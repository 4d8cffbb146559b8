#include "base/json/json_scan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace bough::json {
namespace {

std::string nested(std::size_t depth, std::string_view open, std::string_view middle, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += middle;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonCheck, AcceptsWhatIsJson) {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "-1",
                           "10",
                           "1.5",
                           "0.0",
                           "1e5",
                           "1E+5",
                           "1e-05",
                           "-0.1e00",
                           "1e999999",
                           "123456789012345678901234567890.123456789012345678901234567890",
                           "true",
                           "false",
                           "null",
                           R"("")",
                           R"("a")",
                           R"("\"\\\/\b\f\n\r\t")",
                           R"("\u0000\uABCD\uabcd")",
                           R"("\ud83c\udf33")",
                           R"("\ud800")",
                           R"("\udc00\ud800")",
                           "\"Grüße 🌳\"",
                           "\"\x7F\"",
                           "[]",
                           "[ ]",
                           "[1,2]",
                           "[[],[[]],{}]",
                           "{}",
                           "{ }",
                           R"({"a":1})",
                           R"({"a":1,"a":2})",
                           R"({"":{}})",
                           " \t\r\n[ 1 ,\n2 ] \n",
                           R"( { "a" : [ true , null ] } )",
                           R"({"a\u0062":"\u0063"})",
                           R"("01234567890123456789\n0123456789")"}) {
    const auto result = check(text);
    EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().reason);
  }
}

TEST(JsonCheck, RefusesWhatIsNot) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nulll",
                           "True",
                           "TRUE",
                           "nan",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "undefined",
                           "-",
                           "+1",
                           "01",
                           "-01",
                           "00",
                           "1.",
                           ".5",
                           "1.e5",
                           "1e",
                           "1e+",
                           "1e-",
                           "0x10",
                           "1_000",
                           "1 2",
                           "--1",
                           "1.2.3",
                           "1e5.5",
                           "'a'",
                           "\"",
                           "\"a",
                           "\"\\\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\u\"",
                           "\"\\U0041\"",
                           "\"a\nb\"",
                           "\"a\tb\"",
                           "\"\x01\"",
                           "\"12345678\x1F\"",
                           "\"1234567\x1F\"",
                           "a",
                           "[",
                           "]",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[,]",
                           "[1 2]",
                           "[1}",
                           "[1;2]",
                           "{",
                           "}",
                           "{]",
                           R"({"a")",
                           R"({"a":)",
                           R"({"a":1)",
                           R"({"a":1,)",
                           R"({"a":1,})",
                           R"({,"a":1})",
                           R"({"a" 1})",
                           R"({a:1})",
                           R"({'a':1})",
                           R"({1:1})",
                           R"({"a":1 "b":2})",
                           R"({"a":1]})",
                           R"({"a"::1})",
                           R"({"a":,"b":1})",
                           R"({null:1})",
                           "[1]]",
                           "{}{}",
                           "[]x",
                           "/* c */1",
                           "1//c",
                           "\xEF\xBB\xBF{}",
                           "\v1",
                           "\f1",
                           "\xC2\xA0"
                           "1"}) {
    EXPECT_FALSE(check(text)) << text;
  }
  EXPECT_FALSE(check(std::string_view("\0", 1)));
  EXPECT_FALSE(check(std::string_view("1\0", 2)));
  EXPECT_FALSE(check(std::string_view("\"a\0b\"", 5)));
  EXPECT_FALSE(check(std::string_view("\"\\\0\"", 4)));
  EXPECT_FALSE(check(std::string_view("[\0]", 3)));
}

TEST(JsonCheck, RefusesEveryControlCharacterAtEveryPlaceOfAString) {
  constexpr std::size_t kSize = 150;
  for (char c = 0; c < 0x20; ++c) {
    for (std::size_t at = 0; at < kSize; ++at) {
      std::string text = "\"" + std::string(kSize, 'x') + "\"";
      text[1 + at] = c;
      const auto result = check(text);
      ASSERT_FALSE(result) << int{c} << " at " << at;
      ASSERT_EQ(result.error().offset, 1 + at);
    }
  }
}

TEST(JsonCheck, FindsTheEndOfAStringAtEveryPlace) {
  for (std::size_t size = 0; size < 150; ++size) {
    for (const char* filling : {"x", "\x80", "\xFF", "!", "#", "[", "]"}) {
      std::string text = "\"";
      for (std::size_t i = 0; i < size; ++i) text += filling;
      text += "\"";
      EXPECT_EQ(skipValue(text + ",", 0), text.size());
      EXPECT_EQ(skipValue(text + "\"\"\"\"\"\"\"\"", 0), text.size());
    }
  }
}

// Strings are searched 64 bytes at a time: tests strings before, after and across the end of a block.
TEST(JsonCheck, FindsStringsWhereverTheyStand) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (const std::string member : {R"("k":"v")", R"("\"":"\\")", R"("long enough for two blocks of text":"\n")"}) {
      const std::string text = "{" + std::string(before, ' ') + member + "}";
      EXPECT_EQ(check(text), Layout::OneLine) << text;
      EXPECT_EQ(check(text + std::string(70, ' ')), Layout::OneLine) << text;
      for (std::size_t cut = before + 1; cut < text.size(); ++cut) EXPECT_FALSE(check(text.substr(0, cut)));
      std::string wrong = text;
      wrong.replace(wrong.rfind('"'), 1, "");
      EXPECT_FALSE(check(wrong)) << wrong;
    }
  }
}

TEST(JsonCheck, TellsWhetherTheTextHasLineBreaks) {
  for (const char* text : {"1", " {} ", "\t[1, 2]\t", R"({"a":"\n\r"})"})
    EXPECT_EQ(check(text), Layout::OneLine) << text;
  for (const char* text : {"\n1", "1\r", "{\n}", "[\r\n]", "[1\n,2]", "[1,\n2]", "[1\n]", "{\n\"a\":1}", "{\"a\"\n:1}",
                           "{\"a\":\r1}", "{\"a\":1\n}", "{\"a\":1,\n\"b\":2}"}) {
    EXPECT_EQ(check(text), Layout::Lines) << text;
  }
}

TEST(JsonCheck, RefusesInvalidUtf8) {
  for (const char* bytes :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE2\x82", "\xE0\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xF0\x9F\x8C"}) {
    EXPECT_FALSE(check("\"" + std::string(bytes) + "\""));
    EXPECT_FALSE(check("{\"" + std::string(bytes) + "\":1}"));
  }
  EXPECT_TRUE(check("\"\xF4\x8F\xBF\xBF\xEF\xBF\xBF\""));
}

TEST(JsonCheck, SaysWhereTheFaultIs) {
  const std::pair<const char*, std::size_t> cases[] = {{"", 0},           {"  x", 2},   {"[1,]", 3}, {R"({"a":1,})", 7},
                                                       {R"({"a" 1})", 5}, {"[1 2]", 3}, {"1 2", 2},  {"[1", 2}};
  for (const auto& [text, offset] : cases) {
    const auto result = check(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().offset, offset) << text;
    EXPECT_FALSE(result.error().reason.empty()) << text;
  }
}

TEST(JsonDepth, ReachesTheLimitAndNoFurther) {
  EXPECT_TRUE(check(nested(kMaxDepth, "[", "", "]")));
  EXPECT_TRUE(check(nested(kMaxDepth, "[", "1", "]")));
  EXPECT_TRUE(check(nested(kMaxDepth / 2, R"([{"a":)", "1", "}]")));
  EXPECT_FALSE(check(nested(kMaxDepth + 1, "[", "", "]")));
  EXPECT_FALSE(check(nested(kMaxDepth + 1, R"({"a":)", "1", "}")));
  EXPECT_FALSE(check(nested(kMaxDepth / 2, R"([{"a":)", "[]", "}]")));
}

TEST(JsonCheck, SaysWhereTheTextIsNotUtf8) {
  for (const std::size_t before : {0U, 1U, 62U, 63U, 64U, 200U}) {
    const std::string text = "\"" + std::string(before, 'x') + "é\xFFx\"";
    const auto checked = check(text);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().offset, before + 3);
    EXPECT_EQ(checked.error().reason, "the text is not UTF-8");
  }
  for (const std::string_view text : {"\xFF\xFE{}", "{\xC3\"", "[1,\xED\xA0\x80]", "{}\x80", "{\"a\"\xF0\x90"}) {
    EXPECT_EQ(check(text).error().reason, "the text is not UTF-8") << text;
  }
  EXPECT_EQ(check("é").error().reason, "a value is expected");
}

TEST(JsonCheck, NamesNulBytes) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"\0\0\0"sv, "{\0}"sv, "{\"a\":\0}"sv, "[1\0]"sv, "\"a\0\""sv, "{}\0\0"sv}) {
    const auto checked = check(text);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().offset, text.find('\0'));
    EXPECT_EQ(checked.error().reason, "a NUL byte is in the text");
  }
  EXPECT_EQ(check("").error().reason, "the text ends too early");
}

TEST(JsonDepth, CountsNestingNotContainers) {
  std::string text = "[";
  for (int i = 0; i < 2000; ++i) text += "[{}],";
  EXPECT_TRUE(check(text + "0]"));
}

TEST(JsonDepth, RefusesHostileNestingWithoutRecursion) {
  for (const std::size_t depth : {std::size_t{10'000}, std::size_t{10'000'000}}) {
    const auto arrays = check(std::string(depth, '['));
    ASSERT_FALSE(arrays);
    EXPECT_EQ(arrays.error().reason, "nested deeper than 512 levels");
    EXPECT_EQ(arrays.error().offset, kMaxDepth);
  }
  EXPECT_FALSE(check(nested(10'000, R"({"a":)", "1", "}")));
}

TEST(JsonDepth, RemembersTheKindOfEveryLevel) {
  // Closing brackets must match at each level, also at the end of a word of bits.
  for (std::size_t wrong = 0; wrong < 200; ++wrong) {
    std::string text = nested(100, R"([{"a":)", "1", "}]");
    ASSERT_TRUE(check(text));
    char& bracket = text[text.size() - 1 - wrong];
    bracket = bracket == '}' ? ']' : '}';
    ASSERT_FALSE(check(text)) << wrong;
  }
}

TEST(JsonSkipValue, ReturnsTheOffsetBehindTheValue) {
  const std::string_view text = R"(  {"a":[1,2]} ,3)";
  EXPECT_EQ(skipValue(text, 0), 13U);
  EXPECT_EQ(skipValue(text, 7), 12U);
  EXPECT_EQ(skipValue(text, 15), 16U);
  EXPECT_FALSE(skipValue(text, 13));
  EXPECT_FALSE(skipValue(text, text.size()));
  EXPECT_FALSE(skipValue(text, text.size() + 10));
}

TEST(JsonSkipValue, DoesNotReadBehindTheText) {
  // Every prefix in a buffer of the exact size, so that a sanitizer detects a read beyond the end.
  const std::string whole = R"({"abcdefghijk\u0041":[-1.5e+10,true,false,null,"\ud83c\udf33"],"b":{}})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::unique_ptr<char[]> buffer(new char[size]);
    std::memcpy(buffer.get(), whole.data(), size);
    EXPECT_FALSE(check(std::string_view(buffer.get(), size))) << size;
  }
}

TEST(JsonKinds, ComeFromTheFirstByte) {
  EXPECT_EQ(kindOf("{}"), Kind::Object);
  EXPECT_EQ(kindOf("[]"), Kind::Array);
  EXPECT_EQ(kindOf("\"\""), Kind::String);
  EXPECT_EQ(kindOf("-1"), Kind::Number);
  EXPECT_EQ(kindOf("0"), Kind::Number);
  EXPECT_EQ(kindOf("true"), Kind::True);
  EXPECT_EQ(kindOf("false"), Kind::False);
  EXPECT_EQ(kindOf("null"), Kind::Null);
}

}  // namespace
}  // namespace bough::json
