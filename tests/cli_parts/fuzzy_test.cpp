// What typed text matches, and in which order.
#include "cli/terminal/fuzzy.h"

#include <gtest/gtest.h>

namespace bough::cli {
namespace {

using Rows = std::vector<std::uint32_t>;

Rows found(const std::vector<std::string>& rows, std::string_view typed) {
  FuzzyFilter filter;
  for (const std::string& row : rows) filter.add(row);
  return filter.match(typed);
}

TEST(Fuzzy, AWordAsItIsWrittenWinsBestAtTheBeginningOfAWord) {
  EXPECT_EQ(found({"x1port", "a port", "report", "p-o-r-t", "Port"}, "port"), (Rows{4, 1, 0, 2, 3}));
  EXPECT_EQ(found({"aaab port", "aab port", "az_port", "az9port", "azzport", "azéport"}, "port"),
            (Rows{2, 1, 0, 3, 4, 5}));
  EXPECT_EQ(
      found({std::string(250, '.') + "port", std::string(200, '.') + "port", std::string(199, '.') + "port"}, "PORT"),
      (Rows{2, 0, 1}));
}

TEST(Fuzzy, ElseItsLettersInOrderTheCloserTogetherTheBetter) {
  EXPECT_EQ(found({"a-b-c", "ab--c", "cba", "a--bc", "axbxxc"}, "abc"), (Rows{1, 3, 0, 4}));
  EXPECT_EQ(found({"a" + std::string(30, '-') + "b", "a" + std::string(31, '-') + "b"}, "ab"), (Rows{0}));
  EXPECT_EQ(found({"a\nb", "x\na-b"}, "ab"), (Rows{1}));
  EXPECT_EQ(found({"a" + std::string(40, '-') + "a-b"}, "ab"), (Rows{0})) << "from a later beginning";
  EXPECT_EQ(found({"aXb"}, "abb"), (Rows{}));
}

TEST(Fuzzy, AccentsMakeNoDifferenceHoweverTheyAreWritten) {
  const std::vector<std::string> rows = {"Caf\u00e9", "cafe\u0301", "CAFE", "caf\u00c9s", "coffee"};
  for (const char* typed : {"cafe", "caf\u00e9", "cafe\u0301", "CAF\u00c9"}) {
    EXPECT_EQ(found(rows, typed), (Rows{0, 1, 2, 3})) << typed;
  }
}

TEST(Fuzzy, EveryWordMustMatchAndLettersOfAllScriptsCount) {
  EXPECT_EQ(found({"one two", "two", "one", "two one"}, " one  two "), (Rows{0, 3}));
  EXPECT_EQ(found({"天气预报", "天", "az09", "AZ09"}, "天气"), (Rows{0}));
  EXPECT_EQ(found({"天气预报", "az09", "AZ09"}, "aZ09"), (Rows{1, 2}));
  EXPECT_EQ(found({"b", "a"}, ""), (Rows{0, 1}));
  EXPECT_EQ(found({"b", "a"}, "  "), (Rows{0, 1}));
}

TEST(Fuzzy, IdsAreFoundByFourLettersInARow) {
  const std::vector<std::string> rows = {
      "seven\x1f"
      "01a1-7777",
      "step 7\x1f"
      "01a1-8888",
      "x\x1f"
      "abcd-7000"};
  EXPECT_EQ(found(rows, "7"), (Rows{1})) << "nearly every id has a 7";
  EXPECT_EQ(found(rows, "abc"), (Rows{}));
  EXPECT_EQ(found(rows, "abcd"), (Rows{2}));
  EXPECT_EQ(found(rows, "abcd-7"), (Rows{2}));
  EXPECT_EQ(found(rows, "ab-70"), (Rows{}));
  FuzzyFilter filter;
  for (const std::string& row : rows) filter.add(row);
  EXPECT_EQ(filter.match("abc"), (Rows{}));
  EXPECT_EQ(filter.match("abcd"), (Rows{2})) << "also letter by letter";
  EXPECT_EQ(filter.match("abcd-"), (Rows{2}));
}

TEST(Fuzzy, TypingOnLooksOnlyAtWhatMatchedAndAtNewRows) {
  FuzzyFilter filter;
  for (const char* row : {"alpha", "beta", "alps"}) filter.add(row);
  EXPECT_EQ(filter.match("al"), (Rows{0, 2}));
  filter.add("altitude");
  EXPECT_EQ(filter.match("alp"), (Rows{0, 2}));
  EXPECT_EQ(filter.match("al"), (Rows{0, 2, 3}));
  EXPECT_EQ(filter.match("alt"), (Rows{3}));
  EXPECT_EQ(filter.match("bet"), (Rows{1}));
  EXPECT_EQ(filter.match(""), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(filter.match("b"), (Rows{1}));
  EXPECT_EQ(filter.size(), 4U);
  filter.clear();
  EXPECT_EQ(filter.match("b"), (Rows{}));
  for (int i = 0; i < 5; ++i) filter.add("same");
  filter.add("a same");
  EXPECT_EQ(filter.match("same", 3).size(), 6U);
  EXPECT_EQ(Rows(filter.match("same", 3).begin(), filter.match("same", 3).begin() + 3), (Rows{0, 1, 2}));
}

}  // namespace
}  // namespace bough::cli
