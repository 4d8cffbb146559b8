#include "log/format/line.h"

#include <gtest/gtest.h>

#include "base/bytes/crc32c.h"
#include "log/log_support.h"

namespace bough {
namespace {

std::string digitsOf(const std::array<char, 8>& digits) {
  return {digits.data(), digits.size()};
}

TEST(Line, ASealClosesTheLineWithItsPlaceAndSum) {
  std::string line;
  const auto digits = appendSealedLine(line, R"({"id":"a"})", std::nullopt, 2, 3);
  Crc32c crc;
  crc.add(R"({"id":"a")");
  crc.add("2/3");
  char expected[9];
  std::snprintf(expected, sizeof expected, "%08x", crc.value());
  EXPECT_EQ(line, std::string(R"({"id":"a","seal":"2/3 )") + expected + "\"}\n");
  EXPECT_EQ(digitsOf(digits), expected);
}

TEST(Line, ASealFollowsFromTheOneBeforeIt) {
  std::string first;
  const auto before = appendSealedLine(first, R"({"id":"a"})", std::nullopt, 1, 1);
  std::string alone;
  std::string behind;
  const auto alonedigits = appendSealedLine(alone, R"({"id":"b"})", std::nullopt, 1, 1);
  const auto behindDigits = appendSealedLine(behind, R"({"id":"b"})", before, 1, 1);
  EXPECT_NE(digitsOf(alonedigits), digitsOf(behindDigits));
  Crc32c crc;
  crc.add({before.data(), before.size()});
  crc.add(R"({"id":"b")");
  crc.add("1/1");
  char expected[9];
  std::snprintf(expected, sizeof expected, "%08x", crc.value());
  EXPECT_EQ(digitsOf(behindDigits), expected);
}

TEST(Line, AWrittenSealIsFoundAgain) {
  for (const std::uint32_t count : {1U, 9U, 10U, 1000U, kMaxBatchEntries}) {
    std::string line;
    const auto digits = appendSealedLine(line, entryText("a"), std::nullopt, count, count);
    line.pop_back();
    const auto seal = findSeal(line);
    ASSERT_TRUE(seal) << line;
    EXPECT_EQ(seal->place, count);
    EXPECT_EQ(seal->count, count);
    EXPECT_EQ(seal->digits, digits);
    EXPECT_EQ(line.substr(0, seal->bodyLength) + "}", entryText("a"));
  }
}

TEST(Line, OnlyTheSealInItsPlaceIsOne) {
  const std::string good = R"({"id":"a","seal":"1/2 0123abcd"})";
  EXPECT_TRUE(findSeal(good));
  for (const std::string bad : {
           R"({"id":"a","seal":"1/2 0123ABCD"})",                  // upper case
           R"({"id":"a","seal":"0/2 0123abcd"})",                  // places start at 1
           R"({"id":"a","seal":"3/2 0123abcd"})",                  // after the end
           R"({"id":"a","seal":"01/2 0123abcd"})",                 // a leading zero
           R"({"id":"a","seal":"-1/2 0123abcd"})",                 // a sign
           R"({"id":"a","seal":"1/1000001 0123abcd"})",            // too many
           R"({"id":"a","seal":"1/99999999999999999 0123abcd"})",  // far too many
           R"({"id":"a","seal":"1 0123abcd"})",                    // no count
           R"({"id":"a","seal":"1/2 0123abcd" })",                 // a blank
           R"({"id":"a","seal": "1/2 0123abcd"})",                 // a blank
           R"({"id":"a","payload":{"seal":"1/2 0123abcd"}})",      // belongs to the payload
           R"({"id":"a","seal":"1/2 0123abcd","more":1})",         // not last
           R"({"id":"a","seal":"1/2 0123abc"})",                   // too short
           R"("seal":"1/2 0123abcd"})",                            // no comma
           "",
       }) {
    EXPECT_FALSE(findSeal(bad)) << bad;
  }
}

TEST(Line, KeysAreReadFromTheBeginning) {
  const auto keys = readCanonicalKeys(R"({"id":"a:1","parentId":"b.2","type":"message","rest is not looked at)");
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->id, "a:1");
  EXPECT_EQ(keys->parentId, "b.2");
  EXPECT_EQ(keys->type, "message");
  const auto root = readCanonicalKeys(R"({"id":"a","parentId":null,"type":"message")");
  ASSERT_TRUE(root);
  EXPECT_FALSE(root->parentId);
}

TEST(Line, KeysInAnotherShapeAreLeftToTheSlowReader) {
  for (const std::string line : {
           R"({"parentId":null,"id":"a","type":"message"})",
           R"({ "id":"a","parentId":null,"type":"message"})",
           R"({"id":"a b","parentId":null,"type":"message"})",
           R"({"id":"a","parentId":7,"type":"message"})",
           R"({"id":"a","parentId":null,"type":""})",
           R"({"id":"\u0061","parentId":null,"type":"message"})",
       }) {
    EXPECT_FALSE(readCanonicalKeys(line)) << line;
  }
}

TEST(Line, KeysAreReadInAnyOrderAndWithEscapes) {
  std::string storage;
  std::string_view reason;
  const auto keys =
      readAnyKeys(R"({"payload":{"id":"no"}, "type":"mess\u0061ge","parentId":"p","id":"\u0061"})", storage, reason);
  ASSERT_TRUE(keys) << reason;
  EXPECT_EQ(keys->id, "a");
  EXPECT_EQ(keys->parentId, "p");
  EXPECT_EQ(keys->type, "message");
  EXPECT_FALSE(keys->canonical);
}

TEST(Line, WhatIsNoEntrySaysWhy) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"id":"a","type":"t")", ""},
      {R"([1])", "the line is not a JSON object"},
      {R"({"type":"t"})", "the entry has no valid id"},
      {R"({"id":"../x","type":"t"})", "the entry has no valid id"},
      {R"({"id":"a"})", "the entry has no type"},
      {R"({"id":"a","type":"t","parentId":"a b"})", "parentId is not a valid id"},
      {R"({"id":"a","type":"t"}{"id":"b","type":"t"})", ""},
      {"{\"id\":\"a\",\"type\":\"\xFF\"}", ""},
  };
  for (const auto& [line, expected] : cases) {
    std::string storage;
    std::string_view reason;
    EXPECT_FALSE(readAnyKeys(line, storage, reason)) << line;
    EXPECT_FALSE(reason.empty()) << line;
    if (!expected.empty()) {
      EXPECT_EQ(reason, expected);
    }
  }
}

}  // namespace
}  // namespace bough
