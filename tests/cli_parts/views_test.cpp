// Entries, numbers and tables as users read them.
#include <gtest/gtest.h>

#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/entry_view.h"
#include "cli/views/markdown/blocks.h"
#include "cli/views/markdown/spans.h"
#include "cli/views/next_turn.h"
#include "cli/views/price_file.h"

namespace bough::cli {
namespace {

TEST(Views, WordsInSeveralStylesAreNotBroken) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapSpans({{"table with **"}, {"bold", kFound}, {"**"}}, 14, 14), (Lines{"table with", "**bold**"}));
  EXPECT_EQ(wrapSpans({{"table with 天"}, {"bold"}}, 14, 14), (Lines{"table with 天", "bold"}));
}

TEST(Views, PiecesOfCodeAreApart) {
  EXPECT_EQ(markdownForTerminal("```\na\n```\n```\nb\n```\n\n```\nc\n```", 40, 0), "│ a\n\n│ b\n\n│ c\n");
}

TEST(Views, NumbersAreRounded) {
  EXPECT_EQ(formatBytes(999), "999 B");
  EXPECT_EQ(formatBytes(1'000), "1.0 kB");
  EXPECT_EQ(formatBytes(999'949), "999.9 kB");
  EXPECT_EQ(formatBytes(2'500'000), "2.5 MB");
  EXPECT_EQ(formatBytes(1'000'000'000'000'000), "1000.0 TB");
  EXPECT_EQ(grouped(0) + " " + grouped(999) + " " + grouped(1'000) + " " + grouped(1'234'567), "0 999 1,000 1,234,567");
  EXPECT_EQ(formatCost(19.035, true) + formatCost(6.345 + 12.69, true) + formatCost(12.69 + 4.23 + 2.115, true),
            "$19.04$19.04$19.04");
  EXPECT_EQ(formatCost(1.2, true) + " " + formatCost(0, false), "$1.20 $0.00+");
  EXPECT_EQ(thousands(999) + " " + thousands(1'000) + " " + thousands(999'900) + " " + thousands(1'000'000),
            "999 1.0k 999.9k 1.0M");
}

TEST(Views, TheNextTurnSaysWhatItReadsAndWhatThatCosts) {
  NextTurn next{.contextTokens = 12'345, .ageMs = 120'000};
  EXPECT_EQ(nextTurnText(next), "12.3k tokens of context");
  EXPECT_EQ(nextTurnPrice(next, false), "-");
  next.coldUsd = 0.5;
  next.warmUsd = 0.05;
  EXPECT_EQ(nextTurnText(next),
            "12.3k tokens of context; the cache is likely cold (2m since the last answer): about $0.500 to read it, "
            "warm $0.050");
  EXPECT_EQ(nextTurnPrice(next, false) + ", " + nextTurnPrice(next, true), "$0.500 cold, $0.050 warm");
  next.warm = true;
  EXPECT_EQ(nextTurnText(next),
            "12.3k tokens of context; the cache is likely warm (2m since the last answer): about $0.050 to read it, "
            "cold $0.500");
}

TEST(Views, TheFirstLinesSayHowManyMoreThereAre) {
  EXPECT_EQ(firstLines("a\nb\nc", 3), "a\nb\nc");
  EXPECT_EQ(firstLines("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(firstLines("a\nb\nc\nd", 3), "a\nb\nc\n… 1 more line (--full shows all)");
  EXPECT_EQ(firstLines("a\nb\nc\nd\ne\n", 3), "a\nb\nc\n… 2 more lines (--full shows all)");
  EXPECT_EQ(firstLines("", 3), "");
}

TEST(Views, TheArgumentThatSaysMostIsShown) {
  EXPECT_EQ(briefArguments(R"({"x":1,"path":"p","command":"c"})"), "c");
  EXPECT_EQ(briefArguments(R"({"command":"","path":"p"})"), "p");
  EXPECT_EQ(briefArguments(R"({"x":"\u001b"})"), R"({"x":"\u001b"})");
}

TEST(Views, ALineNamesItsSpeakerWhenThereIsOne) {
  EXPECT_EQ(speakerLine("user", "x") + speakerLine("", "y"), "[user] xy");
}

std::string rendered(const EntryPart& part, PrintStyle style = {}) {
  EntryView view;
  view.speaker = "assistant";
  view.parts = {part};
  Entry entry;
  entry.id = "e";
  const std::string out = renderEntry(entry, view, style);
  return out.substr(out.find('\n') + 1);
}

TEST(Views, PartsAreCutToTheWidthUnlessAllIsAskedFor) {
  const std::string a(100, 'a');
  EXPECT_EQ(rendered({.kind = BlockKind::Text, .text = "one\n\ntwo"}), "  one\n\n  two\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::Thinking, .text = a}), "  💭 " + a.substr(0, 73) + "…\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::Thinking, .text = a}, {.full = true}), "  💭 " + a + "\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::Thinking, .text = a}, {.width = 5}), "  💭 " + a.substr(0, 17) + "…\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::ToolCall, .text = a, .name = "ls"}), "  → ls " + a.substr(0, 73) + "…\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::ToolCall, .text = a, .name = "ls"}, {.full = true}), "  → ls " + a + "\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::ToolResult, .text = "x\n" + a, .name = "ls"}),
            "  ← ls\n  x\n  " + a.substr(0, 74) + "…\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::ToolResult, .text = "x", .name = "ls", .isError = true}),
            "  ✗ failed ls\n  x\n\n");
  EXPECT_EQ(rendered({.kind = BlockKind::Unknown, .text = a}), "  " + a.substr(0, 73) + "…\n\n");
}

TEST(Views, ACallAndItsResultFoldIntoOneLine) {
  const auto folded = [](const std::string& said, std::size_t width, bool isError = false, std::string name = "bash",
                         std::string command = "ls -l") {
    const EntryPart result{.kind = BlockKind::ToolResult, .text = said, .isError = isError};
    const ToolResults results = {{"c", &result}};
    const std::string out = rendered({.kind = BlockKind::ToolCall,
                                      .text = R"({"command":")" + command + R"("})",
                                      .name = std::move(name),
                                      .callId = "c"},
                                     {.width = width, .results = &results});
    return out.substr(0, out.find('\n'));
  };
  EXPECT_EQ(folded("one", 60), "  → bash ls -l ⇒ one");
  EXPECT_EQ(folded("one\ntwo\n", 60), "  → bash ls -l ⇒ one (+1 line)");
  EXPECT_EQ(folded("\n one\ntwo\nthree", 60), "  → bash ls -l ⇒ one (+2 lines)");
  EXPECT_EQ(folded("", 60, true), "  → bash ls -l ✗ (nothing)");
  EXPECT_EQ(folded("one two three four five six seven\nmore", 40), "  → bash ls -l ⇒ one two… (+1 line)");
  EXPECT_EQ(folded("one two three four five six seven\nmore", 24), "  → bash ls -l ⇒ one two…");
  EXPECT_EQ(folded("one", 30, false, std::string(30, 'n')), "  → nnnnnnn… ls -l ⇒ one");
  EXPECT_EQ(folded("one", 40, false, "bash", std::string(60, 'c')), "  → bash ccccccccccccccc… ⇒ one");
  const ToolResults none;
  EXPECT_EQ(rendered({.kind = BlockKind::ToolCall, .text = "{}", .name = "ls", .callId = "c"}, {.results = &none}),
            "  → ls {} (no result here)\n\n");
}

TEST(Views, ATableLinesUpWhateverTheScript) {
  Table table({{.title = "name"}, {.title = "n", .align = Table::Align::Right}, {.title = "rest"}});
  table.add({"a", "1", "x"});
  table.addRule();
  table.add({"天气", "1,234", "bad\033"});
  table.add({std::string(300, 'w'), "2", ""});
  const OutputCapture capture;
  table.print();
  const std::string wide(252, ' ');
  std::string rule;
  for (int i = 0; i < 256 + 2 + 5 + 2 + 4; ++i) rule += "─";
  EXPECT_EQ(capture.text(), "name" + wide + "      n  rest\n" + "a   " + wide + "      1  x\n" + rule + "\n天气" +
                                wide + "  1,234  bad␛\n" + std::string(255, 'w') + "…      2\n");
}

}  // namespace
}  // namespace bough::cli
