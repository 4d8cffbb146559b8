// Markdown displayed while it arrives.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/word_wrap.h"
#include "cli/views/markdown/stream.h"

namespace bough::cli {
namespace {

class Stream : public testing::Test {
 protected:
  Stream() {
    ::setenv("COLUMNS", "20", 1);
    ::setenv("TERM", "linux", 1);
    useColors("always");
  }
  ~Stream() override {
    ::unsetenv("COLUMNS");
    useColors("auto");
  }

  // Returns the output for the text in pieces of at least `size` bytes, cut between characters.
  static std::string inPieces(std::string_view text, std::size_t size) {
    MarkdownStream stream;
    std::string out;
    while (!text.empty()) {
      std::size_t end = std::min(size, text.size());
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      out += stream.feed(text.substr(0, end));
      text.remove_prefix(end);
    }
    return out + stream.rest();
  }

  // Returns the output, which must not depend on how the text is cut. Escapes are shown as ^.
  static std::string shown(const std::string& text) {
    std::string out = inPieces(text, text.size() + 1);
    for (const std::size_t size : {1U, 2U, 3U, 5U, 7U, 16U, 50U}) EXPECT_EQ(inPieces(text, size), out) << size;
    std::ranges::replace(out, '\033', '^');
    return out;
  }
};

TEST_F(Stream, MarksAreStyledAndEndWithTheirLine) {
  EXPECT_EQ(shown("a **b** c\n"), "a ^[1mb^[0m c\n");
  EXPECT_EQ(shown("a `b*c` d\n"), "a ^[36mb*c^[0m d\n");
  EXPECT_EQ(shown("**open\nnext"), "**open\nnext\n");
  EXPECT_EQ(shown("a * b *c* d*"), "a * b ^[3mc^[0m d*\n");
  EXPECT_EQ(shown("### Three\n#None"), "^[1mThree^[0m\n#None\n");
  EXPECT_EQ(shown("- a\n* b\n+ c\n-d"), "^[2m• ^[0ma\n^[2m• ^[0mb\n^[2m• ^[0mc\n-d\n");
  EXPECT_EQ(shown("- [x] a\n- [ ] b"), "^[2m☑ ^[0ma\n^[2m☐ ^[0mb\n");
  EXPECT_EQ(shown("list[0] and [a](b) x"), "list[0] and ^[4ma^[0m^[2m (b)^[0m x\n") << "a bracket is not a link";
}

TEST_F(Stream, ItemsAndQuotesKeepTheirIndentation) {
  EXPECT_EQ(shown("1. one two three four five\n   - six seven eight nine\n\n   ten"),
            "^[2m1. ^[0mone two three\n^[2m   ^[0mfour five\n"
            "   ^[2m• ^[0msix seven eight\n   ^[2m  ^[0mnine\n\n   ten\n");
  EXPECT_EQ(shown("> one two three four five"), "^[2m│ ^[0mone two three four\n^[2m│ ^[0mfive\n");
}

TEST_F(Stream, CodeKeepsItsLinesAndHasColors) {
  EXPECT_EQ(shown("```\na very long line of code **as** it is\n\n```\nx"),
            "^[2m```^[0m\na very long line of code **as** it is\n\n^[2m```^[0m\nx\n");
  EXPECT_EQ(shown("- a\n  ```cpp\n  int a;\n  ```"),
            "^[2m• ^[0ma\n^[2m  ```cpp^[0m\n  ^[35mint^[0m a;\n^[2m  ```^[0m\n");
  EXPECT_EQ(shown("```diff\n+a\n-b\n@@ c\n d\n```\n+e"),
            "^[2m```diff^[0m\n^[32m+a^[0m\n^[31m-b^[0m\n^[36m@@ c^[0m\n d\n^[2m```^[0m\n+e\n");
  EXPECT_EQ(shown("~~~~\n```\n~~~~\n"), "^[2m~~~~^[0m\n```\n^[2m~~~~^[0m\n");
}

TEST_F(Stream, AQuoteIsATextOfItsOwn) {
  EXPECT_EQ(shown("> - a\n>   - **b**\n>\n> ```\n> a*b*c\n>   d\n> ```\n> > e\nf"),
            "^[2m│ ^[0m^[2m• ^[0ma\n^[2m│ ^[0m  ^[2m• ^[0m^[1mb^[0m\n^[2m│ ^[0m\n"
            "^[2m│ ^[0m^[2m│ ^[0ma*b*c\n^[2m│ ^[0m^[2m│ ^[0m  d\n^[2m│ │ ^[0me\nf\n");
}

TEST_F(Stream, MathematicsIsShownAsItIs) {
  EXPECT_EQ(shown("$$\na_{1}*b*c\n$$\nx"), "^[2m$$^[0m\na_{1}*b*c\n^[2m$$^[0m\nx\n");
  EXPECT_EQ(shown("\\[\na*b*c\n\\]\nx"), "^[2m\\[^[0m\na*b*c\n^[2m\\]^[0m\nx\n");
  EXPECT_EQ(shown("$x_{i}*y$ &lt;b&gt; $5"), "$x_{i}*y$ <b> $5\n");
}

TEST_F(Stream, AHeadingMayHaveALineUnderIt) {
  EXPECT_EQ(shown("Title\n====="), "Title\n=====\n");
  EXPECT_EQ(
      markdownForTerminal("Title\n=====\nSub\n---\na\nb\n---", 20, 0),
      "\033[4m\033[1mTitle\033[0m\033[0m\n\033[4m\033[1mSub\033[0m\033[0m\na\nb\n\033[2m────────────────────\033[0m\n");
}

TEST_F(Stream, WordsThatAreStruckOutNeverLookAsIfTheyWereNot) {
  EXPECT_EQ(shown("a ~~b c~~ d"), "a ^[9mb c^[0m d\n");
  useColors("never");
  EXPECT_EQ(shown("a ~~b c~~ d"), "a ~~b c~~ d\n");
}

TEST_F(Stream, TablesAreDrawn) {
  EXPECT_EQ(shown("|a|名|\n|-|-:|\n|1|2|\nend"),
            "^[1ma^[0m^[2m │ ^[0m^[1m名^[0m\n^[2m──┼───^[0m\n1^[2m │ ^[0m 2\nend\n");
  EXPECT_EQ(shown("|a|b|\n|-|-|"), "^[1ma^[0m^[2m │ ^[0m^[1mb^[0m\n^[2m──┼──^[0m\n") << "also at the end";
  EXPECT_EQ(shown("a | b\nc"), "a | b\nc\n") << "a bar alone is not a table";
}

TEST_F(Stream, BlankLinesAreBetweenThingsOnly) {
  EXPECT_EQ(shown("\n\na\n\n\nb\n\n"), "a\n\n\nb\n");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("\n \n"), "");
}

TEST_F(Stream, LinesAreBrokenBetweenWordsAndWideCharacters) {
  EXPECT_EQ(shown("one two three four five"), "one two three four\nfive\n");
  EXPECT_EQ(shown("one two three fourr1 x"), "one two three fourr1\nx\n");
  EXPECT_EQ(shown("one two three fourr12 x"), "one two three\nfourr12 x\n");
  EXPECT_EQ(shown("天天天天天天天天天天天"), "天天天天天天天天天天\n天\n");
  EXPECT_EQ(shown("a天天天天天天天天天天"), "a天天天天天天天天天\n天\n");
  EXPECT_EQ(
      shown("👩‍👩‍👧‍👦🇩🇪 e\u0301e\u0301e\u0301e\u0301 **天天天天天天天天** x"),
      "👩‍👩‍👧‍👦🇩🇪 e\u0301e\u0301e\u0301e\u0301 ^[1m天天天天天^[0m\n^[1m天天天^[0m x\n");
  EXPECT_EQ(shown("bad \033[31m\a"), "bad ␛[31m␇\n");
  EXPECT_EQ(shown("a\tb\n"), "a   b\n");
}

TEST_F(Stream, WordsComeBeforeTheirLineEnds) {
  MarkdownStream stream;
  EXPECT_EQ(stream.feed("one t"), "one");
  EXPECT_EQ(stream.feed("wo **bo"), " two");
  EXPECT_EQ(stream.feed("ld** x 天"), " \033[1mbold\033[0m x");
  EXPECT_EQ(stream.feed("地"), " 天");
  EXPECT_EQ(stream.rest(), "地\n");
  EXPECT_EQ(stream.feed("1 2 3"), "1 2");
  EXPECT_EQ(stream.rest(), " 3\n");
  EXPECT_EQ(stream.feed("- 1 "), "") << "a rule, an item, a box?";
  EXPECT_EQ(stream.feed("a "), "\033[2m• \033[0m1 a");
  EXPECT_EQ(stream.rest(), "\n");
}

TEST_F(Stream, ATerminalThatChangesItsWidthIsFollowed) {
  MarkdownStream stream;
  EXPECT_EQ(stream.feed("- one two "), "\033[2m• \033[0mone two");
  ::setenv("COLUMNS", "17", 1);
  EXPECT_EQ(stream.feed("three four fives"), "\nthree four");
  EXPECT_EQ(stream.feed(" six"), " fives");
  EXPECT_EQ(stream.rest(), "\nsix\n");
}

TEST_F(Stream, WhatIsShownInTheEndIsWhatARenderedTextIs) {
  const std::string text =
      "# Über 天地\n\nSome *emphasis*, **strong words** and `code with blanks`, a [link](https://example.org/x).\n"
      "5 * 3 = 15 * 1, snake_case_name, _under_ ~~gone~~, 2 < 3, <https://a.b>, a \\* b\n\n"
      "1. First\n2. Second **with\n   - nested 中文字符和很长的一段文字没有空格 and more\n\n"
      "---\n* * *\n- - -\n> quote `open\n> > deeper\n\n| a | b |\n|:--|--:|\n| `x|y` | 🍎 |\n\nEnd!";
  EXPECT_EQ(inPieces(text, text.size()), markdownForTerminal(text, 20, 0));
  std::string out = shown(text);
  EXPECT_NE(out, "");
}

TEST_F(Stream, PlainTextIsBrokenBetweenWords) {
  const auto wrappedText = [](std::string_view text) {
    WordWrap wrap;
    std::string out = wrap.feed(text);
    return out + wrap.rest();
  };
  EXPECT_EQ(wrappedText("one two three four five\nsix"), "one two three four\nfive\nsix");
  EXPECT_EQ(wrappedText("a aaaaaaaaaabbbbbbbbbbcc x"), "a aaaaaaaaaabbbbbbbbbbcc x");
  EXPECT_EQ(wrappedText("\tten letters\tmores\n"), "    ten letters\nmores\n");
}

}  // namespace
}  // namespace bough::cli
