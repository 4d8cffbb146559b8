#include <gtest/gtest.h>

#include "base/json/json_scan.h"

namespace bough::json {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

TEST(ObjectReader, ReturnsExactSlicesInOrder) {
  const std::string_view text = " { \"a\" : 1.0e+05 ,\n\"b\":[ 1 , 2 ],\"a\":{\"x\":\"}\"} , \"\\u0063\":\"\\/\" }";
  ObjectReader reader(text);
  Members found;
  while (const auto member = reader.next()) {
    found.emplace_back(member->key, member->value);
    EXPECT_GE(member->value.data(), text.data());
    EXPECT_LE(member->value.data() + member->value.size(), text.data() + text.size());
  }
  EXPECT_FALSE(reader.error());
  EXPECT_EQ(found, (Members{{"a", "1.0e+05"}, {"b", "[ 1 , 2 ]"}, {"a", R"({"x":"}"})"}, {"\\u0063", R"("\/")"}}));
}

TEST(ObjectReader, ComparesKeysDecoded) {
  ObjectReader reader(R"({"\u0061b":1,"plain":2,"a\\u0062":3,"\"":4})");
  auto member = reader.next();
  EXPECT_TRUE(member->keyIs("ab"));
  EXPECT_FALSE(member->keyIs("a"));
  member = reader.next();
  EXPECT_TRUE(member->keyIs("plain"));
  EXPECT_FALSE(member->keyIs("plai"));
  member = reader.next();
  EXPECT_TRUE(member->keyIs("a\\u0062"));
  EXPECT_FALSE(member->keyIs("ab"));
  member = reader.next();
  EXPECT_TRUE(member->keyIs("\""));
}

TEST(ObjectReader, OfAnEmptyObjectEndsAtOnce) {
  for (const char* text : {"{}", " { } "}) {
    ObjectReader reader(text);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.error());
    EXPECT_FALSE(reader.next());
  }
}

TEST(ObjectReader, ReportsWhatIsNoObjectOrBrokeOff) {
  const std::pair<const char*, std::size_t> cases[] = {{"", 0},
                                                       {"[]", 0},
                                                       {"1", 0},
                                                       {"\"{}\"", 0},
                                                       {"{", 0},
                                                       {"{a:1}", 0},
                                                       {R"({"a")", 0},
                                                       {R"({"a":)", 0},
                                                       {R"({"a":1)", 1},
                                                       {R"({"a":1,)", 1},
                                                       {R"({"a":1,})", 1},
                                                       {R"({"a":1]})", 1},
                                                       {R"({"a" 1})", 0},
                                                       {R"({"a":1 "b":2})", 1},
                                                       {R"({"a":1,,"b":2})", 1},
                                                       {R"({,"a":1})", 0},
                                                       {R"({"a":[1})", 0}};
  for (const auto& [text, membersBefore] : cases) {
    ObjectReader reader(text);
    std::size_t count = 0;
    while (reader.next()) ++count;
    EXPECT_EQ(count, membersBefore) << text;
    EXPECT_TRUE(reader.error()) << text;
    EXPECT_FALSE(reader.next()) << text;
  }
}

TEST(ArrayReader, ReturnsExactSlicesInOrder) {
  ArrayReader reader(" [ 1 ,\"a,]\" ,[2,[3]],{\"b\":[]} , null ] ");
  std::vector<std::string> found;
  while (const auto element = reader.next()) found.emplace_back(*element);
  EXPECT_FALSE(reader.error());
  EXPECT_EQ(found, (std::vector<std::string>{"1", "\"a,]\"", "[2,[3]]", "{\"b\":[]}", "null"}));
}

TEST(ArrayReader, ReportsWhatIsNoArrayOrBrokeOff) {
  const std::pair<const char*, std::size_t> cases[] = {{"", 0},    {"{}", 0},    {"[", 0},    {"[1", 1},
                                                       {"[1,", 1}, {"[1,]", 1},  {"[,1]", 0}, {"[1 2]", 1},
                                                       {"[1}", 1}, {"[1,,2]", 1}};
  for (const auto& [text, elementsBefore] : cases) {
    ArrayReader reader(text);
    std::size_t count = 0;
    while (reader.next()) ++count;
    EXPECT_EQ(count, elementsBefore) << text;
    EXPECT_TRUE(reader.error()) << text;
    EXPECT_FALSE(reader.next()) << text;
  }
  ArrayReader empty("[ ]");
  EXPECT_FALSE(empty.next());
  EXPECT_FALSE(empty.error());
}

TEST(FindMember, TakesTheFirstOfThatName) {
  EXPECT_EQ(findMember(R"({"a":1,"b":2,"a":3})", "a"), "1");
  EXPECT_EQ(findMember(R"({"x":{"a":0},"\u0061":2})", "a"), "2");
  EXPECT_EQ(findMember(R"({"a":1})", "b"), std::nullopt);
  EXPECT_EQ(findMember("[1]", "a"), std::nullopt);
  EXPECT_EQ(findMember("", "a"), std::nullopt);
}

TEST(DecodeString, UnderstandsEveryEscape) {
  EXPECT_EQ(decodeString(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decodeString(R"("\u0041\u00e9\u20AC")"), "Aé€");
  EXPECT_EQ(decodeString(R"("\u0000x")"), std::string("\0x", 2));
  EXPECT_EQ(decodeString(R"("\ud83c\udf33")"), "🌳");
  EXPECT_EQ(decodeString(R"("\uDBFF\uDFFF")"), "\xF4\x8F\xBF\xBF");
  EXPECT_EQ(decodeString(R"("\uFFFF")"), "\xEF\xBF\xBF");
  EXPECT_EQ(decodeString("\"Grüße\""), "Grüße");
  EXPECT_EQ(decodeString(R"("")"), "");
}

TEST(DecodeString, ReplacesLoneSurrogates) {
  EXPECT_EQ(decodeString(R"("\ud83c")"), "\uFFFD");
  EXPECT_EQ(decodeString(R"("\udf33")"), "\uFFFD");
  EXPECT_EQ(decodeString(R"("a\ud83cb")"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(decodeString(R"("\ud83c\n")"), "\uFFFD\n");
  EXPECT_EQ(decodeString(R"("\ud83c\u0041")"),
            "\uFFFD"
            "A");
  EXPECT_EQ(decodeString(R"("\udf33\udf33")"), "\uFFFD\uFFFD");
  EXPECT_EQ(decodeString(R"("\udf33\ud83c")"), "\uFFFD\uFFFD");
  EXPECT_EQ(decodeString(R"("\ud83c\ud83c\udf33")"), "\uFFFD🌳");
  EXPECT_EQ(decodeString(R"("\ud83c\\u0041")"), "\uFFFD\\u0041");
}

TEST(DecodeString, IsNoneForOtherKinds) {
  for (const char* value : {"", "\"", "1", "null", "{}", "[\"\"]"})
    EXPECT_EQ(decodeString(value), std::nullopt) << value;
}

TEST(FindString, WantsAString) {
  EXPECT_EQ(findString(R"({"a":"x\ny"})", "a"), "x\ny");
  EXPECT_EQ(findString(R"({"a":1})", "a"), std::nullopt);
  EXPECT_EQ(findString(R"({"a":null})", "a"), std::nullopt);
  EXPECT_EQ(findString(R"({})", "a"), std::nullopt);
}

TEST(FindUnsigned, WantsAWholeNumberInRange) {
  const std::pair<const char*, std::optional<std::uint64_t>> cases[] = {{"0", 0},
                                                                        {"42", 42},
                                                                        {"9223372036854775807", INT64_MAX},
                                                                        {"9223372036854775808", {}},
                                                                        {"18446744073709551616", {}},
                                                                        {"-1", {}},
                                                                        {"-0", {}},
                                                                        {"1.0", {}},
                                                                        {"1e3", {}},
                                                                        {"\"1\"", {}},
                                                                        {"null", {}},
                                                                        {"true", {}},
                                                                        {"[1]", {}}};
  for (const auto& [value, expected] : cases) {
    EXPECT_EQ(findUnsigned("{\"n\":" + std::string(value) + "}", "n"), expected) << value;
  }
  EXPECT_EQ(findUnsigned("{}", "n"), std::nullopt);
}

}  // namespace
}  // namespace bough::json
