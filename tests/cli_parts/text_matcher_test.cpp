// Searching for a text or a pattern, and the text displayed around a match.
#include "cli/views/text_matcher.h"

#include <gtest/gtest.h>

namespace bough::cli {
namespace {

std::string excerpt(const TextMatcher& matcher, std::string_view text) {
  const auto made = matcher.scan().matcher();
  if (!made) return "error";
  const auto found = (*made)(text);
  if (!found || !*found) return "nothing";
  std::string out = **found;
  for (char& c : out) c = c == '\x01' ? '[' : c == '\x02' ? ']' : c;
  return out;
}

TEST(TextMatcher, AFixedTextIsMarkedOnItsLine) {
  const auto b = TextMatcher::fixed("b", false);
  EXPECT_EQ(excerpt(b, "abc"), "a[b]c");
  EXPECT_EQ(excerpt(b, "x\nabcb\ny"), "a[b]c[b]");
  EXPECT_EQ(excerpt(b, "b"), "[b]");
  EXPECT_EQ(excerpt(b, "\nb\n"), "[b]");
  EXPECT_EQ(excerpt(b, "B"), "nothing");
  EXPECT_EQ(excerpt(TextMatcher::fixed("aZ", true), "xAzx"), "x[Az]x");
  EXPECT_EQ(excerpt(TextMatcher::fixed("[", true), "{["), "{[[]");
  EXPECT_EQ(excerpt(TextMatcher::fixed("", false), "abc"), "nothing");
  EXPECT_EQ(excerpt(TextMatcher::fixed("a\nb", false), "xa\nby"), "x[a\nb]y");
  EXPECT_EQ(TextMatcher::fixed("a", false).find("aba", 1)->begin, 2U);
  EXPECT_FALSE(TextMatcher::fixed("a", false).find("aba", 3));
}

TEST(TextMatcher, ALongLineIsCutAroundIt) {
  const auto b = TextMatcher::fixed("b", false);
  const std::string a60(60, 'a');
  const std::string c120(120, 'c');
  EXPECT_EQ(excerpt(b, a60 + "b" + c120), a60 + "[b]" + c120);
  EXPECT_EQ(excerpt(b, "a" + a60 + "b" + c120 + "c"), "…" + a60 + "[b]" + c120 + "…");
  EXPECT_EQ(excerpt(b, a60 + "b" + c120 + "\nx"), a60 + "[b]" + c120);
  EXPECT_EQ(excerpt(b, "é" + a60.substr(1) + "b"), "é" + a60.substr(1) + "[b]");
  EXPECT_EQ(excerpt(b, "éé" + a60.substr(1) + "b"), "…é" + a60.substr(1) + "[b]") << "no character is cut";
  EXPECT_EQ(excerpt(b, "b" + c120.substr(1) + "éx"), "[b]" + c120.substr(1) + "…");
  EXPECT_EQ(excerpt(b, "b" + c120.substr(1) + "b"), "[b]" + c120.substr(1) + "[b]");
}

TEST(TextMatcher, APatternMatchesInsideALine) {
  const auto regex = [](const std::string& pattern, bool ignoreCase = false) {
    return *TextMatcher::regex(pattern, ignoreCase);
  };
  EXPECT_EQ(excerpt(regex("^b+$"), "abb\nbb\nbbb"), "[bb]");
  EXPECT_EQ(excerpt(regex("^a"), "aaa"), "[a]aa") << "a line begins once";
  EXPECT_EQ(excerpt(regex("a.b"), "a\nb"), "nothing");
  EXPECT_EQ(excerpt(regex("x*"), "aax"), "aa[x]");
  EXPECT_EQ(excerpt(regex("x*"), "aa"), "nothing") << "nothing is not a match";
  EXPECT_EQ(excerpt(regex("ab"), "AB"), "nothing");
  EXPECT_EQ(excerpt(regex("ab", true), "xAB"), "x[AB]");
  EXPECT_FALSE(TextMatcher::regex("(", false));
}

}  // namespace
}  // namespace bough::cli
