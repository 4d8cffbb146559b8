// What the tests of transcripts share: fixtures, whole files, and reading and writing them.
#pragma once

#include <bough/transcript.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bough {

inline std::string readBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void writeBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

struct ReadFile {
  std::vector<Entry> entries;
  TranscriptReport report;
};

inline ReadFile readAll(const std::string& path, std::uint64_t fromOffset = 0) {
  ReadFile file;
  auto report = readTranscript(path, {.agent = {}, .fromOffset = fromOffset}, [&](Entry&& entry) -> Result<void> {
    file.entries.push_back(std::move(entry));
    return {};
  });
  EXPECT_TRUE(report) << path << ": " << (report ? "" : report.error().message);
  if (report) file.report = *report;
  return file;
}

inline std::string writeAll(const std::vector<Entry>& entries, const WriteTranscriptOptions& options) {
  std::string bytes;
  const auto written = writeTranscript(entries, options, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return bytes;
}

inline std::vector<std::filesystem::path> fixtures() {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(BOUGH_TESTS_DIR "/transcript/fixtures")) {
    const std::string name = file.path().filename();
    const bool isTranscript = name != "sessions.json" && file.path().extension() != ".png";
    if (file.is_regular_file() && isTranscript) paths.push_back(file.path());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace bough
