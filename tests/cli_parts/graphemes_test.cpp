// Words as editing keys move over and delete them.
#include "cli/terminal/graphemes.h"

#include <gtest/gtest.h>

#include <string>

namespace bough::cli {
namespace {

TEST(Graphemes, AWordHoldsItsMarksAndIsNotCutInACharacter) {
  EXPECT_EQ(lastWordBegin("one cafe\u0301"), 4U);
  EXPECT_EQ(lastWordBegin("one cafe\u0301  "), 4U);
  EXPECT_EQ(lastWordBegin("see src/a_b.cpp"), 8U);
  EXPECT_EQ(lastWordBegin("  (!) "), 0U);
  EXPECT_EQ(lastWordBegin(""), 0U);
  EXPECT_EQ(firstWordEnd("e\u0301te\u0301 two"), std::string("e\u0301te\u0301").size());
  EXPECT_EQ(firstWordEnd("  (one) two"), 6U);
  EXPECT_EQ(firstWordEnd(" !"), 2U);
}

TEST(Graphemes, TheLastWordGoesWithWhatFollowsIt) {
  std::string text = "alpha two (words) ";
  eraseLastWord(text);
  EXPECT_EQ(text, "alpha two (");
  eraseLastWord(text);
  EXPECT_EQ(text, "alpha ");
  eraseLastWord(text);
  eraseLastWord(text);
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace bough::cli
