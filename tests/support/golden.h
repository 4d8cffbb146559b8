// Golden files: output that was recorded once and checked by a person. Later runs must produce the same.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bough {

/// Returns success when `actual` equals tests/golden/`name`; otherwise a failure with a diff. With
/// BOUGH_UPDATE_GOLDEN=1 in the environment, rewrites the file instead.
inline testing::AssertionResult matchesGolden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = std::filesystem::path(BOUGH_TESTS_DIR) / "golden" / name;
  if (const char* update = std::getenv("BOUGH_UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return testing::AssertionSuccess();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return testing::AssertionFailure() << path << " is missing; BOUGH_UPDATE_GOLDEN=1 writes it";
  std::ostringstream stored;
  stored << file.rdbuf();
  if (stored.str() == actual) return testing::AssertionSuccess();

  const auto linesOf = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto before = linesOf(stored.str());
  const auto after = linesOf(actual);
  // The longest common subsequence separates added lines from removed ones.
  std::vector<std::vector<std::size_t>> common(before.size() + 1, std::vector<std::size_t>(after.size() + 1));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  auto failure = testing::AssertionFailure() << name << " differs (- golden, + now):\n";
  for (std::size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      failure << "  " << before[i] << "\n";
      ++i;
      ++j;
    } else if (j == after.size() || (i < before.size() && common[i + 1][j] >= common[i][j + 1])) {
      failure << "- " << before[i++] << "\n";
    } else {
      failure << "+ " << after[j++] << "\n";
    }
  }
  return failure;
}

}  // namespace bough
