// Shared by the tests of transcripts: fixtures, whole files, and functions to read and write them.
#pragma once

#include <bough/message.h>
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/json/json_scan.h"

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

/// Returns what eachTranscript finds, in the order of the paths.
inline Result<std::vector<FoundTranscript>> findTranscripts(const TranscriptHome& home,
                                                            const std::vector<std::string>& agents) {
  std::vector<FoundTranscript> found;
  const auto walk = eachTranscript(home, agents, [&](FoundTranscript&& file) {
    found.push_back(std::move(file));
    return true;
  });
  if (!walk) return std::unexpected(walk.error());
  std::ranges::sort(found, {}, &FoundTranscript::path);
  return found;
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

inline std::string inputText(const Block& block) {
  if (block.freeform) return block.text.decode();
  return block.input.starts_with('"') ? json::decodeString(block.input).value_or("") : std::string(block.input);
}

// Returns the messages, calls and results on the head's branch, one line each.
inline std::string story(const std::vector<Entry>& entries, std::string head) {
  std::map<std::string, const Entry*> byId;
  for (const Entry& entry : entries) byId[entry.id] = &entry;
  std::vector<const Entry*> path;
  for (; byId.contains(head); head = byId[head]->parentId.value_or("")) path.insert(path.begin(), byId[head]);
  std::string out;
  for (const Entry* entry : path) {
    if (!holdsMessage(*entry)) continue;
    const auto message = normalizeEntry(*entry);
    EXPECT_TRUE(message) << entry->payload;
    if (!message) continue;
    for (const Block& block : message->blocks) {
      if (block.kind == BlockKind::Text) out += fmt::format("{}: {}\n", toString(message->role), block.text.decode());
      if (block.kind == BlockKind::ToolCall)
        out += fmt::format("call {} {} {}\n", block.id.decode(), block.name.decode(), inputText(block));
      if (block.kind != BlockKind::ToolResult) continue;
      std::string result;
      for (const Block& part : block.content) result += part.text.decode();
      // Codex has no error flag; the text begins with a word instead.
      const bool said = result.starts_with("Error: ");
      out += fmt::format("result {} {}{}\n", block.id.decode(), block.isError && !said ? "Error: " : "", result);
    }
  }
  return out;
}

inline std::unique_ptr<SessionStore> memoryStore() {
  return std::move(*SessionStore::open("memory:"));
}

inline ImportResult import(SessionStore& store, const std::string& path) {
  auto done = importTranscript(store, path);
  EXPECT_TRUE(done) << path << ": " << (done ? "" : done.error().message);
  return done ? *done : ImportResult{};
}

inline std::string exported(SessionStore& store, const std::string& sessionId, const std::string& agent) {
  const auto entries = store.loadSessionEntries(sessionId);
  EXPECT_TRUE(entries);
  const auto facts = factsForExport(store, sessionId, agent, *entries);
  EXPECT_TRUE(facts);
  return writeAll(*entries, {.agent = agent, .facts = *facts});
}

}  // namespace bough
