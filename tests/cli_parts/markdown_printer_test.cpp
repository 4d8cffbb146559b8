// Markdown styled as it comes in.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/terminal/markdown.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

class Printer : public testing::Test {
 protected:
  Printer() {
    ::setenv("COLUMNS", "20", 1);
    ::setenv("TERM", "linux", 1);
    useColors("always");
  }
  ~Printer() override {
    ::unsetenv("COLUMNS");
    useColors("auto");
  }

  static std::string withoutBlankEnds(std::string text) {
    for (std::size_t at = text.find(" \n"); at != std::string::npos; at = text.find(" \n")) text.erase(at, 1);
    return text;
  }

  // The same however the text is cut. Escapes as ^; blanks at the end of a line do not count.
  static std::string shown(const std::string& text) {
    MarkdownPrinter whole;
    std::string out = whole.feed(text);
    out = withoutBlankEnds(out + whole.finish());
    MarkdownPrinter pieces;
    std::string other;
    for (const char c : text) other += pieces.feed({&c, 1});
    other = withoutBlankEnds(other + pieces.finish());
    const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    EXPECT_TRUE(!ascii || out == other) << text;
    std::ranges::replace(out, '\033', '^');
    return out;
  }
};

TEST_F(Printer, MarksAreStyledAndEndWithTheirLine) {
  EXPECT_EQ(shown("a **b** c\n"), "a ^[0m^[1mb^[0m c\n");
  EXPECT_EQ(shown("a `b*c` d\n"), "a ^[0m^[36mb*c^[0m d\n");
  EXPECT_EQ(shown("**open\nnext"), "^[0m^[1mopen^[0m\nnext");
  EXPECT_EQ(shown("`open"), "^[0m^[36mopen^[0m");
  EXPECT_EQ(shown("a * b *c* d*"), "a * b *c* d*");
  EXPECT_EQ(shown("# One\n###### Six\n####### Seven\n#None"), "^[0m^[1mOne^[0m\n^[0m^[1mSix^[0m\n####### Seven\n#None");
  EXPECT_EQ(shown("- a\n* b\n+ c\n-d\n-"), "• a\n• b\n• c\n-d\n-");
  EXPECT_EQ(shown("- **a**\n- \n-  b"), "• ^[0m^[1ma^[0m\n•\n•  b");
  EXPECT_EQ(shown("##"), "##");
}

TEST_F(Printer, CodeKeepsItsLinesAndDiffsHaveColours) {
  EXPECT_EQ(shown("```\na very long line of code **as** it is\n```\nx"),
            "^[2m```^[0m\n^[0ma very long line of code **as** it is\n^[2m```^[0m\nx");
  EXPECT_EQ(shown("```diff\n+a\n-b\n@@ c\n d\n```\n+e"),
            "^[2m```diff^[0m\n^[0m^[32m+a^[0m\n^[0m^[31m-b^[0m\n^[0m^[36m@@ c^[0m\n^[0m d\n^[2m```^[0m\n+e");
  EXPECT_EQ(shown("```diff2\n+a\n```"), "^[2m```diff2^[0m\n^[0m+a\n^[2m```^[0m");
  std::string diff = styledDiff("+a\n-b\n@@ c\n@d\n e");
  std::ranges::replace(diff, '\033', '^');
  EXPECT_EQ(diff, "^[32m+a^[0m\n^[31m-b^[0m\n^[36m@@ c^[0m\n@d\n e\n");
}

TEST_F(Printer, LinesAreBrokenBetweenWordsAndWideCharacters) {
  EXPECT_EQ(shown("one two three four five"), "one two three four\nfive");
  EXPECT_EQ(shown("one two three fourr1 x"), "one two three fourr1\nx");
  EXPECT_EQ(shown("one two three fourr12 x"), "one two three\nfourr12 x");
  EXPECT_EQ(shown("a aaaaaaaaaabbbbbbbbbbcc x"), "a aaaaaaaaaabbbbbbbbbbcc x");
  EXPECT_EQ(shown("天天天天天天天天天天天"), "天天天天天天天天天天\n天");
  EXPECT_EQ(shown("a天天天天天天天天天天"), "a天天天天天天天天天\n天");
  EXPECT_EQ(shown("bad \033[31m\a"), "bad ␛[31m␇");
}

TEST_F(Printer, TabsCountAsTheBlanksTheyBecome) {
  EXPECT_EQ(shown("a\tb\n"), "a   b\n");
  EXPECT_EQ(shown("\tten letters\tmore\n"), "    ten letters more\n") << "20 columns";
  EXPECT_EQ(shown("\tten letters\tmores\n"), "    ten letters\nmores\n");
}

}  // namespace
}  // namespace bough::cli
