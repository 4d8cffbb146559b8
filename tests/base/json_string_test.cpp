#include "base/json/json_string.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace bough::json {
namespace {

struct Plain {
  std::size_t at;
  std::string_view reason;
  bool escapes = false;
  bool odd = false;
  bool surrogates = false;
};

bool isHex(char c) {
  return std::string_view("0123456789abcdefABCDEF").contains(c);
}

// The same, one byte at a time.
Plain skipSlowly(std::string_view text) {
  Plain found{.at = 0, .reason = {}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') return found.at = i + 1, found;
    if (static_cast<unsigned char>(c) < 0x20) {
      return found.at = i, found.reason = "a control character is in a string", found;
    }
    if (c != '\\') continue;
    found.escapes = true;
    if (++i == text.size()) break;
    const char what = text[i];
    if (std::string_view("\"\\bfnrt").contains(what)) continue;
    found.odd = true;
    if (what == '/') continue;
    if (static_cast<unsigned char>(what) < 0x20) {
      return found.at = i, found.reason = "a control character is in a string", found;
    }
    if (what != 'u') return found.at = i, found.reason = "an unknown escape", found;
    for (std::size_t k = 1; k <= 4; ++k) {
      if (i + k >= text.size() || !isHex(text[i + k])) {
        return found.at = i, found.reason = "a broken \\u escape", found;
      }
    }
    found.surrogates |= text[i + 1] == 'd' || text[i + 1] == 'D';
  }
  return found.at = text.size(), found.reason = "a string is not closed", found;
}

void compare(const std::string& text) {
  const Plain expected = skipSlowly(text);
  const SkippedString found = skipString(text.data(), text.data() + text.size());
  ASSERT_EQ(found.reason, expected.reason) << text;
  ASSERT_EQ(static_cast<std::size_t>(found.at - text.data()), expected.at) << text;
  if (!expected.reason.empty()) return;
  ASSERT_EQ(found.escapes, expected.escapes) << text;
  ASSERT_EQ(found.oddEscapes, expected.odd) << text;
  ASSERT_EQ(found.surrogates, expected.surrogates) << text;
}

TEST(JsonString, EndsWhereASlowReaderSaysWhateverStandsAtTheEdgesOfBlocks) {
  for (std::size_t before = 0; before < 140; ++before) {
    for (const std::string_view piece : {"\"", "\\\"\"", "\\\\\"", "\\\\\\\"\"", "\\u00e9\"", "\\ud800\"", "\\uD83D\"",
                                         "\\u12\"", "\\q\"", "\\/\"", "\n\"", "\\\n\"", "\\", "\\u", "\\n\\t\""}) {
      compare(std::string(before, 'x').append(piece));
      compare(std::string(before, 'x').append(piece).append(100, 'y'));
      compare(std::string(before, '\\').append(piece).append(70, '"'));
    }
  }
}

TEST(JsonString, AgreesWithASlowReaderOnRandomText) {
  std::mt19937_64 random(11);
  const std::string_view pieces[] = {"a",       "some text of a few words ",
                                     "\\n",     "\\\"",
                                     "\\\\",    "\\/",
                                     "\\u0041", "\\udc00",
                                     "汉",      "\"",
                                     "\\",      "\t",
                                     "u",       "\\x"};
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    const std::size_t kinds = round % 3 == 0 ? std::size(pieces) : 9;
    for (std::uint64_t left = random() % 40; left > 0; --left) text += pieces[random() % kinds];
    if (round % 4 != 0) text += '"';
    compare(text);
    ASSERT_EQ(mayHoldSurrogates(text), text.contains("\\u")) << text;
  }
}

}  // namespace
}  // namespace bough::json
