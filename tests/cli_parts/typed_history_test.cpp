#include "cli/terminal/line/typed_history.h"

#include <gtest/gtest.h>
#include <histedit.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace bough::cli {
namespace {

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the lines that the Up key gives, newest first.
std::vector<std::string> linesOf(const TypedHistory& history) {
  std::vector<std::string> out;
  HistEvent event{};
  for (int at = ::history(history.lines(), &event, H_FIRST); at >= 0; at = ::history(history.lines(), &event, H_NEXT)) {
    out.emplace_back(event.str);
  }
  return out;
}

bool isAbout(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

TEST(TypedHistory, WhatWasForgottenElsewhereIsNotWrittenAgain) {
  const TempFolder folder;
  const std::string path = folder / "chat_history";
  TypedHistory history(path);
  history.add("the password is heron");
  history.add("hello");
  EXPECT_EQ(forgetTypedLines(path, [](std::string_view line) { return isAbout(line, "heron"); }), 1U);
  history.add("more");
  EXPECT_EQ(contentOf(path), "_HiStOrY_V2_\nhello\nmore\n");
  EXPECT_EQ(linesOf(history), (std::vector<std::string>{"more", "hello"}));
  EXPECT_EQ(forgetTypedLines(path, [](std::string_view line) { return line == "hello"; }), 1U);
  history.refresh();
  EXPECT_EQ(linesOf(history), std::vector<std::string>{"more"}) << "nor offered by a chat that goes on";
  std::filesystem::remove(path);
  history.add("last");
  EXPECT_EQ(contentOf(path), "_HiStOrY_V2_\nlast\n") << "a file that was removed is empty";
}

TEST(TypedHistory, TwoChatsKeepTheLinesOfBoth) {
  const TempFolder folder;
  const std::string path = folder / "chat_history";
  TypedHistory first(path);
  TypedHistory second(path);
  first.add("first\nof two lines");
  second.add("second");
  first.add("third");
  first.add("third");
  EXPECT_EQ(contentOf(path), "_HiStOrY_V2_\nfirst\\012of\\040two\\040lines\nsecond\nthird\n");
  second.refresh();
  EXPECT_EQ(linesOf(second), (std::vector<std::string>{"third", "second", "first\nof two lines"}));
  struct stat made{};
  ASSERT_EQ(::stat(path.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0600U);
}

TEST(TypedHistory, KeepsTheNewestLinesAndMendsATornEnd) {
  const TempFolder folder;
  const std::string path = folder / "chat_history";
  {
    std::ofstream file(path);
    file << "_HiStOrY_V2_\n";
    for (int i = 0; i < 2'300; ++i) file << "line" << i << "\n";
    file << "torn";
  }
  TypedHistory history(path);
  history.add("last");
  const std::string content = contentOf(path);
  EXPECT_TRUE(content.ends_with("\nline2299\ntorn\nlast\n"));
  EXPECT_TRUE(content.starts_with("_HiStOrY_V2_\nline302\n")) << content.substr(0, 40);
  std::ofstream(path) << "something else\n";
  history.add("after");
  EXPECT_EQ(contentOf(path), "_HiStOrY_V2_\nafter\n");
}

TEST(TypedHistory, WithoutAFileTheLinesStayInMemory) {
  TypedHistory nowhere("");
  nowhere.add("one");
  nowhere.refresh();
  EXPECT_EQ(linesOf(nowhere), std::vector<std::string>{"one"});
  const TempFolder folder;
  TypedHistory unwritable(folder / "missing/chat_history");
  unwritable.add("one");
  unwritable.add("two");
  unwritable.refresh();
  EXPECT_EQ(linesOf(unwritable), (std::vector<std::string>{"two", "one"}));
}

TEST(TypedHistory, ForgetsLinesAndKeepsTheOthersAsTheyAre) {
  const TempFolder folder;
  const std::string path = folder / "chat_history";
  EXPECT_EQ(forgetTypedLines(path, [](std::string_view) { return true; }), 0U) << "no file, no lines";
  const std::string kept = "_HiStOrY_V2_\nfirst\\040line\nwith\\040żółć\\012and\\040more\n";
  std::ofstream(path) << kept << "the\\040secret\\040word\n";
  EXPECT_EQ(forgetTypedLines(path, [](std::string_view line) { return line == "nothing"; }), 0U);
  EXPECT_EQ(forgetTypedLines(path, [](std::string_view line) { return line == "the secret word"; }), 1U);
  EXPECT_EQ(contentOf(path), kept);
}

TEST(TypedHistory, AFileThatIsNoHistoryIsAnErrorAndStays) {
  const TempFolder folder;
  const std::string path = folder / "chat_history";
  std::ofstream(path) << "something else\n";
  EXPECT_FALSE(forgetTypedLines(path, [](std::string_view) { return true; }));
  EXPECT_EQ(contentOf(path), "something else\n");
}

}  // namespace
}  // namespace bough::cli
