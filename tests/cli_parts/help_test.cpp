#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "base/text/text.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/definition/reference.h"

namespace bough::cli {
namespace {

std::string withoutRepeatedSpaces(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex(" +"), " "), std::regex("^ | $"), "");
}

// Help is read in the terminal, where lines that are too long are hard to read and to copy.
TEST(Help, FitsNarrowTerminals) {
  for (const std::size_t width : {40U, 59U, 60U, 80U}) {
    std::vector<std::string> texts{overviewHelp(commandGroups(), width)};
    for (const CommandGroup& group : commandGroups()) {
      for (const Command& command : group.commands) texts.push_back(commandHelp(command, width));
    }
    for (const std::string& text : texts) {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        // A single word stays whole whatever its length, including quoted text.
        const std::string unquoted = std::regex_replace(line, std::regex("'[^']*'|\"[^\"]*\""), "x");
        const bool oneWord = std::regex_match(unquoted, std::regex(" *[^ ]+( \\\\)?"));
        EXPECT_TRUE(text::displayWidth(line) <= width || oneWord) << width << ": " << line;
      }
    }
  }
}

// The lines of an example must give a shell the intended command.
TEST(Help, ABrokenExampleIsTheSameCommand) {
  for (const CommandGroup& group : commandGroups()) {
    for (const Command& command : group.commands) {
      std::string shown = commandHelp(command, 40);
      const std::size_t begin = shown.find("\nExamples:\n");
      if (begin == std::string::npos) continue;
      shown = std::regex_replace(shown.substr(begin + 11), std::regex(" \\\\\n *"), " ");
      shown = std::regex_replace(shown, std::regex("\n {6}# "), " # ");
      shown = std::regex_replace(shown, std::regex("( # .*) # "), "$1 ");
      EXPECT_EQ(withoutRepeatedSpaces(shown), withoutRepeatedSpaces(command.examples + "\n"));
    }
  }
}

// troff removes plain quotation marks and curves apostrophes, but the text is copied into a shell.
TEST(Help, TheManualKeepsQuotes) {
  const std::string manual = manualPage(commandGroups());
  EXPECT_NE(manual.find("bough chat \\-p \\(dqReview this\\(dq"), std::string::npos);
  std::istringstream lines(manual.substr(manual.find('\n')));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(!line.starts_with('.') && line.find_first_of("\"'`^~") != std::string::npos) << line;
  }
}

// A wrong suggestion is worse than none: it leads to a command that does something else.
TEST(Help, TheNearestWordIsTheOneThatWasMistyped) {
  const std::vector<std::string> known{"ls", "label", "labels", "rm", "log", "show", "--json", "/help", "/quit"};
  EXPECT_EQ(nearest("lables", known), "labels");
  EXPECT_EQ(nearest("LABEL", known), "label");
  EXPECT_EQ(nearest("sl", known), "ls");
  EXPECT_EQ(nearest("shwo", known), "show");
  EXPECT_EQ(nearest("--jsn", known), "--json");
  EXPECT_EQ(nearest("/HELP", known), "/help");
  EXPECT_EQ(nearest("--jso", known), "--json");
  EXPECT_EQ(nearest("/qui", known), "/quit");
  EXPECT_EQ(nearest("claude", {"claude-code", "codex"}), "claude-code");
  EXPECT_EQ(nearest("openai", {"openai-chat", "openai-responses"}), "") << "either may be meant";
  for (const char* word : {"", "t1", "x", "-", "--", "/", "/x", "ab", "show-me-all"}) {
    EXPECT_EQ(nearest(word, known), "") << word;
  }
}

}  // namespace
}  // namespace bough::cli
