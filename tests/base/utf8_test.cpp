#include "base/text/utf8.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

namespace bough {
namespace {

TEST(Utf8, WhatTheStandardAllowsIsUtf8) {
  for (const std::string_view good :
       {"", "plain", "é", "汉字", "日本語のテキスト", "🙂🚀", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(isUtf8(good)) << good;
  }
}

TEST(Utf8, OverlongFormsSurrogatesAndHalvesAreNot) {
  for (const std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE1\x80", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xF0\x90\x80"}) {
    EXPECT_FALSE(isUtf8(bad));
    EXPECT_FALSE(isUtf8(std::string(70, 'a').append(bad)));
    EXPECT_FALSE(isUtf8(std::string(bad).append(70, 'a')));
    EXPECT_FALSE(isUtf8("汉" + std::string(bad)));
  }
}

TEST(Utf8, WhatStandsBeforeTheFirstWrongByteIsCounted) {
  EXPECT_EQ(utf8PrefixBytes(""), 0U);
  EXPECT_EQ(utf8PrefixBytes("é汉🙂"), 9U);
  EXPECT_EQ(utf8PrefixBytes("é汉\xF0\x90\x80"), 5U);
  EXPECT_EQ(utf8PrefixBytes(std::string(100, 'a').append("\xC3z")), 100U);
}

// Text is checked in blocks; an error must be found at any position in a block.
TEST(Utf8, OneWrongByteAnywhereIsFound) {
  for (const std::string_view piece : {"é", "汉", "🙂", "字a"}) {
    std::string text = "x";
    while (text.size() < 200) text += piece;
    for (std::size_t shift = 0; shift < 4; ++shift, text.insert(0, 1, 'x')) {
      ASSERT_TRUE(isUtf8(text));
      for (std::size_t i = 0; i < text.size(); ++i) {
        for (const char wrong : {'a', '\x80', '\xC3', '\xE4', '\xFF'}) {
          std::string changed = text;
          changed[i] = wrong;
          ASSERT_EQ(isUtf8(changed), simdjson::validate_utf8(changed.data(), changed.size())) << shift << " " << i;
          changed.resize(i + 1);
          ASSERT_EQ(isUtf8(changed), simdjson::validate_utf8(changed.data(), changed.size())) << shift << " " << i;
          changed.append(70, 'a');
          ASSERT_EQ(isUtf8(changed), simdjson::validate_utf8(changed.data(), changed.size())) << shift << " " << i;
        }
      }
    }
  }
}

TEST(Utf8, AgreesWithSimdjsonOnRandomText) {
  std::mt19937_64 random(7);
  const std::string_view pieces[] = {"a",
                                     "plain text of some length",
                                     "é",
                                     "汉",
                                     "字",
                                     "🙂",
                                     "\xE2\x80",
                                     "\xC3",
                                     "\x80",
                                     "\xED\xA0\x80",
                                     "\xF4\x90\x80\x80",
                                     "\xE0\x80\x80"};
  int good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const auto kinds = round % 2 == 0 ? 6U : static_cast<unsigned>(std::size(pieces));
    const std::uint64_t most = round % 4 < 2 ? 20 : 150;
    for (std::uint64_t left = random() % most; left > 0; --left) text += pieces[random() % kinds];
    const bool expected = simdjson::validate_utf8(text.data(), text.size());
    good += expected ? 1 : 0;
    ASSERT_EQ(isUtf8(text), expected) << text;
  }
  EXPECT_GT(good, 10'000);
}

}  // namespace
}  // namespace bough
