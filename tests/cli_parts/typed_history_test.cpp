#include "cli/terminal/line/typed_history.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "support/temp_folder.h"

namespace bough::cli {
namespace {

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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
