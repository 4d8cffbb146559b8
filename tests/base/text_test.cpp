#include "base/text/text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/text/shell_word.h"

namespace bough::text {
namespace {

const std::string kFamily = "\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466";  // four people, one grapheme
const std::string kFlag = "\U0001F1E9\U0001F1EA";
const std::string kThumb = "\U0001F44D\U0001F3FD";
const std::string kHeart = "\u2764\uFE0F";
const std::string kAccent = "e\u0301";

TEST(ShellWord, IsOneWordThatATerminalShowsAsItIs) {
  EXPECT_EQ(shellWord("/tmp/a-b"), "/tmp/a-b");
  EXPECT_EQ(shellWord(""), "''");
  EXPECT_EQ(shellWord("it's ü"), "'it'\\''s ü'");
  EXPECT_EQ(shellWord("/a\x1b[2J'\\"), "$'/a\\033[2J\\'\\\\'");
  EXPECT_EQ(shellWord("\xff\xc2\x9b"), "$'\\377\\302\\233'");
}

TEST(DisplayWidth, CountsColumnsOfATerminal) {
  EXPECT_EQ(displayWidth(""), 0u);
  EXPECT_EQ(displayWidth("plain"), 5u);
  EXPECT_EQ(displayWidth("你好"), 4u);
  EXPECT_EQ(displayWidth("ｆｕｌｌ"), 8u);
  EXPECT_EQ(displayWidth("한글"), 4u);
  EXPECT_EQ(displayWidth("\u1112\u1161\u11AB"), 2u) << "one syllable in three letters";
  EXPECT_EQ(displayWidth(kAccent), 1u);
  EXPECT_EQ(displayWidth("plain" + kAccent + "plain你"), 13u);
  EXPECT_EQ(displayWidth("शीर्षक"), 5u) << "a vowel beside its letter has a column, one above it has none";
  EXPECT_EQ(displayWidth("🌳"), 2u);
  EXPECT_EQ(displayWidth(kFamily), 2u);
  EXPECT_EQ(displayWidth(kFlag + kFlag), 4u);
  EXPECT_EQ(displayWidth(kThumb), 2u);
  EXPECT_EQ(displayWidth(kHeart), 2u);
  EXPECT_EQ(displayWidth("└── …"), 5u);
  EXPECT_EQ(displayWidth("a\xFF\xFE z"), 5u) << "each bad byte is one replacement";
}

TEST(CutToGraphemes, KeepsCharactersWhole) {
  EXPECT_EQ(cutToGraphemes("hello", 3), "hel");
  EXPECT_EQ(cutToGraphemes("hello", 5), "hello");
  EXPECT_EQ(cutToGraphemes("hello", 0), "");
  EXPECT_EQ(cutToGraphemes("你好世界", 2), "你好");
  EXPECT_EQ(cutToGraphemes(kFamily + kFlag + kThumb, 1), kFamily);
  EXPECT_EQ(cutToGraphemes(kFamily + kFlag + kThumb, 2), kFamily + kFlag);
  EXPECT_EQ(cutToGraphemes(kFlag + kFlag + kFlag, 2), kFlag + kFlag);
  EXPECT_EQ(cutToGraphemes(kAccent + kAccent, 1), kAccent);
  EXPECT_EQ(cutToGraphemes(kHeart + "x", 1), kHeart);
  EXPECT_EQ(cutToGraphemes("\xFF\xFFok", 2), "\xFF\xFF");
  EXPECT_EQ(cutToGraphemes("\xE4\xBD", 1), "\xE4") << "half a character is not one";
}

TEST(CutToGraphemes, EndsACharacterOfEndlessMarks) {
  std::string tower = "a";
  for (int i = 0; i < 1000; ++i) tower += "\u0301";
  EXPECT_LT(cutToGraphemes(tower, 1).size(), 100u);
  EXPECT_LT(excerpt(tower, 3).size(), 250u);
}

TEST(CutToWidth, NeverCutsAWideCharacterInHalf) {
  EXPECT_EQ(cutToWidth("你好", 3), "你");
  EXPECT_EQ(cutToWidth("a你", 2), "a");
  EXPECT_EQ(cutToWidth("a你", 3), "a你");
  EXPECT_EQ(cutToWidth(kFamily + "x", 2), kFamily);
  EXPECT_EQ(cutToWidth(kFamily, 1), "");
  EXPECT_EQ(cutToWidth(kHeart + "x", 1), "") << "the sign that makes it wide belongs to it";
  EXPECT_EQ(cutToWidth(kAccent + "x", 1), kAccent);
}

TEST(Printable, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("\x1B[31mred\x1B[0m\a"), "␛[31mred␛[0m␇");
  EXPECT_EQ(printable(std::string("\0\x7F", 2)), "␀␡");
  EXPECT_EQ(printable("a\r\nb\tc\rd"), "a b c␍d");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\uFFFD31m")
      << "CSI as one C1 control";
  EXPECT_EQ(printable("\u202Egpj.exe\u2066"), "\uFFFDgpj.exe\uFFFD");
  EXPECT_EQ(printable("one\u2028two"), "one two");
  EXPECT_EQ(printable("\xFF\xC0\x80\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("Grüße, 世界 " + kFamily), "Grüße, 世界 " + kFamily);
}

TEST(Printable, KeepsLinesWhereTheyAreWanted) {
  EXPECT_EQ(printableLines("a\r\nb\n\tc\x1B"), "a\nb\n\tc␛");
}

TEST(Excerpt, IsOneLineOfWords) {
  EXPECT_EQ(excerpt("  Hello,\n\n   world\t! ", 50), "Hello, world !");
  EXPECT_EQ(excerpt(" \n ", 50), "");
  EXPECT_EQ(excerpt("\x1B]0;title\a", 50), "␛]0;title␇");
}

TEST(Excerpt, EndsInAMarkWhenItWasCut) {
  EXPECT_EQ(excerpt("abcdef", 6), "abcdef");
  EXPECT_EQ(excerpt("abcdefg", 6), "abcde…");
  EXPECT_EQ(excerpt("abcdef   ", 6), "abcdef") << "blanks at the end are nothing to cut";
  EXPECT_EQ(excerpt("abcd efg", 6), "abcd…") << "no blank before the mark";
  EXPECT_EQ(excerpt("你好世界你好", 5), "你好世界…");
  EXPECT_EQ(excerpt(kFlag + kFamily + kThumb + "x", 3), kFlag + kFamily + "…");
  EXPECT_EQ(excerpt("ab", 1), "…");
  EXPECT_EQ(excerpt("ab", 0), "");
}

TEST(Excerpt, FitsIntoColumns) {
  EXPECT_EQ(excerptToWidth("你好世界", 8), "你好世界");
  EXPECT_EQ(excerptToWidth("你好世界", 7), "你好世…");
  EXPECT_EQ(excerptToWidth("你好世界", 6), "你好…");
  EXPECT_EQ(excerptToWidth(kHeart + kHeart, 3), kHeart + "…");
  EXPECT_EQ(excerptToWidth("x", 0), "");
  EXPECT_EQ(excerptToWidth(kThumb + "ab", 6), kThumb + "ab");
  EXPECT_EQ(excerptToWidth(kThumb + "ab", 5), kThumb + "…") << "a terminal that shows the skin apart has no more room";
  EXPECT_EQ(widestDisplay("a" + kThumb + kFlag + kHeart + kAccent), 1 + 4 + 2 + 2 + 1u);
}

TEST(Text, IsSafeAndWholeForRandomBytes) {
  std::mt19937_64 random(7);
  const std::string pieces[] = {"a",   " ",     "\n",   "\x1B", "\xC2",   "\x9B", kFamily,
                                kFlag, kAccent, kHeart, "世",   "\u202E", "\xFF"};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    for (std::uint64_t n = random() % 30; n > 0; --n) bytes += pieces[random() % std::size(pieces)];
    const std::size_t limit = random() % 20;
    const std::string safe = printable(bytes);
    ASSERT_EQ(printable(safe), safe);
    ASSERT_FALSE(safe.contains('\x1B') || safe.contains('\n') || safe.contains("\u202E") || safe.contains("\xC2\x9B"));
    const std::string line = excerptToWidth(bytes, limit);
    ASSERT_LE(displayWidth(line), limit) << safe;
    ASSERT_LE(displayWidth(cutToWidth(safe, limit)), limit) << safe;
    const std::string few = excerpt(bytes, limit);
    ASSERT_EQ(cutToGraphemes(few, limit), few) << safe;
    // A prefix that was cut is followed by a whole grapheme, so cutting it again gives the same prefix.
    const auto cut = cutToGraphemes(safe, limit);
    ASSERT_EQ(cutToGraphemes(std::string(cut), limit), cut);
  }
}

TEST(Text, TabsBecomeBlanksUpToTheNextStop) {
  EXPECT_EQ(withoutTabs(""), "");
  EXPECT_EQ(withoutTabs("no tabs\nhere\n"), "no tabs\nhere\n");
  EXPECT_EQ(withoutTabs("\ta"), "    a");
  EXPECT_EQ(withoutTabs("a\tb\tc"), "a   b   c");
  EXPECT_EQ(withoutTabs("abcd\te"), "abcd    e");
  EXPECT_EQ(withoutTabs("你\tb"), "你  b") << "a wide character has two columns";
  EXPECT_EQ(withoutTabs("abc\n\td\t"), "abc\n    d   ") << "each line has its own stops";
}

}  // namespace
}  // namespace bough::text
