// The meaning of Markdown within a line; all other text is kept.
#include "base/text/inline_markdown.h"

#include <gtest/gtest.h>

namespace bough::text {
namespace {

std::string wordsOf(std::string_view text) {
  return plainWords(text, 4096);
}

std::string oneLine(std::string_view text) {
  std::string out;
  for (const Span& span : parseInline(text)) out += span.text;
  return out;
}

TEST(InlineMarkdown, MarksOfProgramsPathsAndMathematicsAreText) {
  for (const std::string_view text : {"a*b*c",
                                      "2**3**4",
                                      "2*(3+4)*5",
                                      "__init__",
                                      "call __init__ and __del__()",
                                      "snake_case_name",
                                      "f(*args, **kwargs)",
                                      "f(*args) g(*args)",
                                      "(*p)+(*q)",
                                      "char **argv, char **envp",
                                      "src/**/*.cpp and tests/**/*.cpp",
                                      "\"*.cpp\" and \"*.h\"",
                                      "rename *.cpp to *.cc",
                                      "vector<T> and a<b>",
                                      "a & b &c; &unknown; &#27; &#0;",
                                      "C:\\Users\\.x \\d+\\.\\w \\\\server\\share",
                                      "$x_{i}*y_{j}*z$",
                                      "\\(x*y*z\\) \\[a_{1}*b_{1}*c\\]",
                                      "https://a.b/_c_/d*e*f",
                                      "list[0](1 2",
                                      "~5 to ~6",
                                      "~~open",
                                      "**open",
                                      "`open",
                                      "[a][b] [^1]",
                                      "$5 or $6"}) {
    EXPECT_EQ(oneLine(text), text);
    EXPECT_EQ(wordsOf(text), std::string(text) + "\n");
  }
}

TEST(InlineMarkdown, EmphasisCodeAndLinksAreWords) {
  EXPECT_EQ(oneLine("**a** *b* _c_ __two words__ ***d*** `e*f*g` x"), "a b c two words d e*f*g x");
  EXPECT_EQ(oneLine("**提示:**文字 **“强调”**文字"), "提示:文字 “强调”文字");
  EXPECT_EQ(oneLine("**.gitignore** \\*a\\* \\_b\\_ 1\\."), ".gitignore *a* _b_ 1\\.");
  EXPECT_EQ(oneLine("[a](b) ![c](d) <https://e.f> [g](h_(i)) [**j** `k`](l)"), "a c https://e.f g j k");
  EXPECT_EQ(oneLine("&lt;a&gt; &amp;amp; &quot;b&quot; &#39; &#x2014; &copy; `&lt;`"), "<a> &amp; \"b\" ' — © &lt;");
}

TEST(InlineMarkdown, WhatFollowsMathematicsIsReadAsUsual) {
  EXPECT_EQ(oneLine("\\[x*y*z\\]**b** \\(u\\)*c* $v$ **d**"), "\\[x*y*z\\]b \\(u\\)c $v$ d");
}

TEST(InlineMarkdown, ALongLineOfLinksThatNeverEndIsText) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += i % 1000 == 999 ? ")" : "[a](";
  EXPECT_EQ(oneLine(text), text);
}

TEST(InlineMarkdown, ALinkHasItsTargetAndItsTitle) {
  const std::vector<Span> spans = parseInline("see [**a** b](https://c.d/e_(f) \"The title\").");
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[1].style, kBold | kLink);
  EXPECT_EQ(spans[2].text, " b");
  EXPECT_EQ(spans[2].target, "https://c.d/e_(f)");
  EXPECT_EQ(spans[2].title, "The title");
  EXPECT_EQ(spans[3].text, ".");
}

TEST(PlainWords, MarksOfBlocksAreLeftOutAndCodeIsNot) {
  EXPECT_EQ(wordsOf("## Plan\n\n1. Use `a`\n- **b**"), "Plan\n\n1. Use a\n- b\n");
  EXPECT_EQ(wordsOf("```py\ndef __init__(*a, **b): # c*d*e\n```\nx"), "\ndef __init__(*a, **b): # c*d*e\n\nx\n");
  EXPECT_EQ(wordsOf("A\n===\n| a | b |\n|:-|-:|\n| 1 | 2 |"), "A\n\n| a | b |\n\n| 1 | 2 |\n");
  EXPECT_EQ(wordsOf("~~not~~ this"), "~~not~~ this\n") << "without its mark it would say the opposite";
  EXPECT_EQ(wordsOf("#12 and #include"), "#12 and #include\n");
  EXPECT_EQ(wordsOf("---"), "---") << "nothing but marks";
  EXPECT_EQ(wordsOf("***"), "***");
}

TEST(InlineMarkdown, ALineThatGoesOnIsSettledBeforeTheFirstOpenMark) {
  EXPECT_EQ(stablePrefixBytes("a &l"), 2U);
  EXPECT_EQ(stablePrefixBytes("a [b](c \"d"), 2U);
  EXPECT_EQ(stablePrefixBytes("a $x_1 b"), 2U);
  EXPECT_EQ(stablePrefixBytes("2*3 a"), 5U);
}

}  // namespace
}  // namespace bough::text
