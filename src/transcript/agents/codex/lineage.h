// Finds the history that a forked Codex thread continues.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/agents/codex/costs.h"

namespace bough::transcript::codex {

/// Returns the folder that contains `sessions` and `archived_sessions`; empty when the file is in neither.
std::string homeOf(const std::string& path);

/// Returns the part of a rollout's file name after the time: `<thread>`, or `<thread>_<rollout>` for a rollout that
/// replaced an earlier one when turns of the thread were reverted. `stem` is the file name up to its first dot. Empty
/// when the name has no such part.
std::string rolloutName(std::string_view stem);

/// Returns the path of a rollout, given its name or its id, which is the id of its thread unless the rollout replaced
/// an earlier one. Looks next to the file at `path`, then in the Codex home that this file belongs to. Empty when it is
/// not found.
std::string findRollout(const std::string& path, const std::string& rollout);

/// A message of the history that precedes a file's own lines.
struct EarlierMessage {
  std::string entryId;
  std::size_t hash = 0;  ///< Hash of its item.
};

/// A turn of the history that precedes a file's own lines.
struct EarlierTurn {
  std::string before;            ///< The entry that the user's message continues; empty for none.
  std::size_t messageCount = 0;  ///< Number of messages before it.
};

/// What a forked thread continues: the state that its reader would have if the lines before the fork were its own.
struct Lineage {
  std::string_view problem = "a file that it was forked from is not there";  ///< Empty when all of it was read.
  std::string sessionId{};  ///< Session of the parent file (TranscriptFacts::sessionId).
  std::string lastEntryId{};
  std::vector<EarlierMessage> messages{};
  std::vector<EarlierTurn> turns{};
  std::deque<std::string> prompts{};  ///< The user's last messages.
  Costs costs{};
  std::string rootThread{};  ///< The thread where the first lines were originally written.
};

/// Returns what a rollout, which the file at `path` was forked from, contains before an offset of its file. `followed`:
/// the files that were forked from that rollout, in the order in which they were followed.
Lineage lineageOf(const std::string& path, const std::string& rollout, std::uint64_t endOffset,
                  std::vector<std::string> followed);

}  // namespace bough::transcript::codex
