// Breaking lines between words.
#include "cli/terminal/fitted.h"

#include <gtest/gtest.h>

namespace bough::cli {
namespace {

TEST(Fitted, ALineIsBrokenWhereTheNextWordDoesNotFit) {
  EXPECT_EQ(fitted("one two three", 7), "one two\nthree");
  EXPECT_EQ(fitted("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(fitted("one  two", 8), "one  two");
  EXPECT_EQ(fitted("one  two ", 7), "one\ntwo");
  EXPECT_EQ(fitted("averylongword x", 4), "averylongword\nx");
  EXPECT_EQ(fitted("", 4), "");
  EXPECT_EQ(fitted("a\n\nb\n", 4), "a\n\nb\n");
}

TEST(Fitted, WhatFollowsIsIndentedAsTheLineOrItsMark) {
  EXPECT_EQ(fitted("  one two", 6), "  one\n  two");
  EXPECT_EQ(fitted("  → one two", 8), "  → one\n    two");
  EXPECT_EQ(fitted("! one two", 6), "! one\n  two");
  EXPECT_EQ(fitted("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(fitted("      one two", 8), "      one\n    two") << "at most half of the room";
}

TEST(Fitted, EscapeSequencesTakeNoColumnsAndWideCharactersTwo) {
  EXPECT_EQ(fitted("\033[1mone\033[0m two", 7), "\033[1mone\033[0m two");
  EXPECT_EQ(fitted("\033[1mone\033[0m two", 6), "\033[1mone\033[0m\ntwo");
  EXPECT_EQ(fitted("\033[38;5;28mone\033[0m x\033", 5), "\033[38;5;28mone\033[0m x\033");
  EXPECT_EQ(fitted("\033Aone two", 7), "\033Aone two");
  EXPECT_EQ(fitted("天气 x", 6), "天气 x");
  EXPECT_EQ(fitted("天气 x", 5), "天气\nx");
}

}  // namespace
}  // namespace bough::cli
