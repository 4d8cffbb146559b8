// Where a forked Codex thread continues from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bough::transcript::codex {

/// The folder that holds `sessions` and `archived_sessions`; empty when a file is in neither.
std::string homeOf(const std::string& path);

/// The path of the rollout of a thread: beside the file at `path`, or in the home that it belongs to. Empty when there
/// is none.
std::string findRollout(const std::string& path, const std::string& thread);

/// A message of the history before a file's own lines.
struct EarlierMessage {
  std::string entryId;
  std::size_t hash = 0;  ///< Of its item.
};

/// What a forked thread continues.
struct Lineage {
  std::string lastEntryId;  ///< Empty when the file is not there.
  std::vector<EarlierMessage> messages;
};

/// What a thread holds before a byte of its file, which the file at `path` was forked from. `depth`: how many forks
/// were followed already.
Lineage lineageOf(const std::string& path, const std::string& thread, std::uint64_t endOffset, unsigned depth);

}  // namespace bough::transcript::codex
