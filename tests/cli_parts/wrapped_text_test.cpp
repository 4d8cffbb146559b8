// Breaking lines between words.
#include "cli/terminal/wrapped_text.h"

#include <gtest/gtest.h>

namespace bough::cli {
namespace {

TEST(WrappedText, ALineIsBrokenWhereTheNextWordDoesNotFit) {
  EXPECT_EQ(wrappedText("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrappedText("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrappedText("one  two", 8), "one  two");
  EXPECT_EQ(wrappedText("one  two ", 7), "one\ntwo");
  EXPECT_EQ(wrappedText("averylongword x", 4), "averylongword\nx");
  EXPECT_EQ(wrappedText("", 4), "");
  EXPECT_EQ(wrappedText("a\n\nb\n", 4), "a\n\nb\n");
}

TEST(WrappedText, WhatFollowsIsIndentedAsTheLineOrItsMark) {
  EXPECT_EQ(wrappedText("  one two", 6), "  one\n  two");
  EXPECT_EQ(wrappedText("  → one two", 8), "  → one\n    two");
  EXPECT_EQ(wrappedText("! one two", 6), "! one\n  two");
  EXPECT_EQ(wrappedText("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrappedText("      one two", 8), "      one\n    two") << "at most half of the room";
}

TEST(WrappedText, EscapeSequencesTakeNoColumnsAndWideCharactersTwo) {
  EXPECT_EQ(wrappedText("\033[1mone\033[0m two", 7), "\033[1mone\033[0m two");
  EXPECT_EQ(wrappedText("\033[1mone\033[0m two", 6), "\033[1mone\033[0m\ntwo");
  EXPECT_EQ(wrappedText("\033[38;5;28mone\033[0m x\033", 5), "\033[38;5;28mone\033[0m x\033");
  EXPECT_EQ(wrappedText("\033Aone two", 7), "\033Aone two");
  EXPECT_EQ(wrappedText("天气 x", 6), "天气 x");
  EXPECT_EQ(wrappedText("天气 x", 5), "天气\nx");
}

}  // namespace
}  // namespace bough::cli
