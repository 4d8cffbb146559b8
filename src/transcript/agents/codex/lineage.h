// Where a forked Codex thread continues from.
#pragma once

#include <cstdint>
#include <string>

namespace bough::transcript::codex {

/// The folder that holds `sessions` and `archived_sessions`; empty when a file is in neither.
std::string homeOf(const std::string& path);

/// The path of the rollout of a thread: beside the file at `path`, or in the home that it belongs to. Empty when there
/// is none.
std::string findRollout(const std::string& path, const std::string& thread);

/// The id of the last entry of a thread before a byte of its file, which the file at `path` was forked from; empty when
/// the file is not there. `depth`: how many forks were followed already.
std::string lastEntryOf(const std::string& path, const std::string& thread, std::uint64_t endOffset, unsigned depth);

}  // namespace bough::transcript::codex
