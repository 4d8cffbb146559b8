// For every grammatically valid text, reading by brackets alone equals strict reading.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_checked.h"
#include "base/json/json_scan.h"

namespace bough::json {
namespace {

using JsonObjectEditor = std::vector<std::pair<std::string, std::string>>;

template <typename Reader>
JsonObjectEditor membersOf(std::string_view text) {
  JsonObjectEditor found;
  Reader reader(text);
  while (const auto member = reader.next()) found.emplace_back(member->key, member->value);
  return found;
}

std::string randomText(std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {"a",    "\\\"", "\\\\", "{",       "}", "[", "]",
                                                 ",",    ":",    "\\n",  "\\u00e9", "é", " ", "0123456789abcdef",
                                                 "日本", "'",    "/",    "\\/"};
  std::string text = "\"";
  for (std::size_t i = random() % 40; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
  return text + "\"";
}

std::string randomValue(std::mt19937& random, int depth) {
  switch (random() % (depth > 3 ? 4 : 6)) {
    case 0: return randomText(random);
    case 1: return std::to_string(static_cast<int>(random() % 2000) - 1000) + (random() % 2 == 0 ? ".5e-3" : "");
    case 2: return random() % 2 == 0 ? "true" : "false";
    case 3: return "null";
    case 4: {
      std::string array = "[";
      for (std::size_t i = random() % 4; i > 0; --i) array += randomValue(random, depth + 1) + (i > 1 ? ", " : "");
      return array + " ]";
    }
    default: {
      std::string object = "{ ";
      for (std::size_t i = random() % 4; i > 0; --i) {
        object += randomText(random) + (random() % 2 == 0 ? ":" : " : ") + randomValue(random, depth + 1);
        if (i > 1) object += ',';
      }
      return object + "}";
    }
  }
}

TEST(JsonChecked, ReadsWhatTheStrictReaderReads) {
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text = "{";
    for (std::size_t k = random() % 6; k > 0; --k) {
      text += randomText(random) + ":" + randomValue(random, 0) + (k > 1 ? " ,\n" : "");
    }
    text += random() % 2 == 0 ? "}" : " } ";
    ASSERT_TRUE(check(text)) << text;
    ASSERT_EQ(membersOf<CheckedObject>(text), membersOf<ObjectReader>(text)) << text;
    CheckedObject reader(text);
    while (reader.next()) {
    }
    ASSERT_FALSE(reader.isBroken()) << text;
  }
}

TEST(JsonChecked, EveryCutOfAnObjectIsBrokenAndNothingIsReadOutsideOfIt) {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    std::string text = "{\"first\":" + randomValue(random, 0) + ",\"second\":" + randomValue(random, 0) + "}";
    for (std::size_t size = 0; size < text.size(); ++size) {
      const std::string cut = text.substr(0, size);  // a copy, so that a sanitizer detects a read after it
      CheckedObject reader(cut);
      while (reader.next()) {
      }
      ASSERT_TRUE(reader.isBroken()) << cut;
    }
    text += "{}";
    CheckedObject reader(text);
    while (reader.next()) {
    }
    ASSERT_TRUE(reader.isBroken());
  }
}

}  // namespace
}  // namespace bough::json
