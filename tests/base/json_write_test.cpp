#include "base/json/json_write.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json/json_scan.h"

namespace bough::json {
namespace {

TEST(JsonQuoting, EscapesWhatMustBeEscapedAndNothingElse) {
  EXPECT_EQ(json::quoted(""), R"("")");
  EXPECT_EQ(json::quoted("plain / text"), R"("plain / text")");
  EXPECT_EQ(json::quoted("\"\\"), R"("\"\\")");
  EXPECT_EQ(json::quoted("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(json::quoted(std::string("\0\x01\x1F", 3)), R"("\u0000\u0001\u001f")");
  EXPECT_EQ(json::quoted("\x7F"), "\"\x7F\"");
  EXPECT_EQ(json::quoted("Grüße 🌳"), "\"Grüße 🌳\"");
}

TEST(JsonQuoting, ReturnsEveryByteBelow0x80) {
  for (int c = 0; c < 0x80; ++c) {
    const std::string text = "a" + std::string(1, static_cast<char>(c)) + "b";
    const std::string json = json::quoted(text);
    EXPECT_TRUE(check(json)) << c;
    EXPECT_EQ(decodeString(json), text) << c;
  }
}

TEST(JsonQuoting, RoundTripsRandomText) {
  std::mt19937_64 random(1);
  const std::string pieces[] = {"a", "\"", "\\", "\n", "é", "🌳", "\x01", "/", "\\u0041", "\xEF\xBF\xBD", "        "};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t n = random() % 40; n > 0; --n) text += pieces[random() % std::size(pieces)];
    const std::string json = json::quoted(text);
    ASSERT_TRUE(check(json)) << json;
    ASSERT_EQ(decodeString(json), text) << json;
    ASSERT_FALSE(json.contains('\n'));
  }
}

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  std::string out;
  Writer(out)
      .beginObject()
      .member("text", "x\ny")
      .member("count", std::uint64_t{3})
      .member("flag", true)
      .key("none")
      .null()
      .key("list")
      .beginArray()
      .number(std::int64_t{-1})
      .beginArray()
      .endArray()
      .beginObject()
      .endObject()
      .string("s")
      .endArray()
      .key("last")
      .boolean(false)
      .endObject();
  EXPECT_EQ(out, R"({"text":"x\ny","count":3,"flag":true,"none":null,"list":[-1,[],{},"s"],"last":false})");
  EXPECT_TRUE(check(out));
}

TEST(JsonWriter, SplicesRawValuesUntouched) {
  const std::string raw = R"({ "n" : 1.000e+05, "n":-0, "s":"\u0041\/" })";
  std::string out;
  Writer(out).beginObject().key("payload").raw(raw).member("after", "x").endObject();
  EXPECT_EQ(findMember(out, "payload"), raw);
  EXPECT_EQ(findString(out, "after"), "x");
}

TEST(JsonWriter, WritesTheLargestNumbers) {
  std::string out;
  Writer(out).beginArray().number(INT64_MIN).number(INT64_MAX).number(UINT64_MAX).number(std::uint64_t{0}).endArray();
  EXPECT_EQ(out, "[-9223372036854775808,9223372036854775807,18446744073709551615,0]");
}

TEST(JsonWriter, AppendsToWhatIsThere) {
  std::string out = "before ";
  Writer(out).string("x");
  EXPECT_EQ(out, "before \"x\"");
}

TEST(JsonWriter, EscapesKeys) {
  std::string out;
  Writer(out).beginObject().member("a\"b", "v").endObject();
  EXPECT_EQ(out, R"({"a\"b":"v"})");
  EXPECT_EQ(findString(out, "a\"b"), "v");
}

}  // namespace
}  // namespace bough::json
