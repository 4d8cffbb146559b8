// Where a forked Codex thread continues from.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/agents/codex/costs.h"

namespace bough::transcript::codex {

/// The folder that holds `sessions` and `archived_sessions`; empty when a file is in neither.
std::string homeOf(const std::string& path);

/// The name that a rollout's file begins with its time and ends with: `<thread>`, or `<thread>_<rollout>` of one that
/// replaced an earlier one when turns of the thread were reverted. `stem`: the file's name up to its first dot. Empty
/// when it has none.
std::string rolloutName(std::string_view stem);

/// The path of a rollout by its id, which is that of its thread unless it replaced an earlier one, or by its name:
/// beside the file at `path`, or in the home that it belongs to. Empty when there is none.
std::string findRollout(const std::string& path, const std::string& rollout);

/// A message of the history before a file's own lines.
struct EarlierMessage {
  std::string entryId;
  std::size_t hash = 0;  ///< Of its item.
};

/// A turn of the history before a file's own lines.
struct EarlierTurn {
  std::string before;     ///< The entry that the user's message continues; empty: none.
  std::size_t given = 0;  ///< How many messages were given before it.
};

/// What a forked thread continues: what its reader would know if the lines before the fork were its own.
struct Lineage {
  std::string_view problem = "a file that it was forked from is not there";  ///< Empty when all of it was read.
  std::string sessionId{};  ///< Of that file (TranscriptFacts::sessionId).
  std::string lastEntryId{};
  std::vector<EarlierMessage> messages{};
  std::vector<EarlierTurn> turns{};
  std::deque<std::string> prompts{};  ///< The user's last messages.
  Costs costs{};
  std::string rootThread{};  ///< Where the first lines were written first.
};

/// What a rollout holds before a byte of its file, which the file at `path` was forked from. `followed`: the files that
/// were forked from that one, in the order they were followed.
Lineage lineageOf(const std::string& path, const std::string& rollout, std::uint64_t endOffset,
                  std::vector<std::string> followed);

}  // namespace bough::transcript::codex
