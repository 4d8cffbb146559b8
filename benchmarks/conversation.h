// Conversations of a coding agent, the same for the same seed, once as sessions of bough and once as Claude Code keeps
// them, with words that occur as often as words do.
#pragma once

#include <cstdint>
#include <string>

namespace bough::bench {

struct Conversations {
  std::string store;     ///< bough's folder.
  std::string claude;    ///< Claude Code's folder, as CLAUDE_CONFIG_DIR names it.
  std::string texts;     ///< A file with every text that search takes in: its size in eight bytes, then the text.
  std::string rareWord;  ///< Stands in twenty entries.
  std::uint64_t entries = 0;
};

/// About `bytes` of sessions, a hundred of them.
Conversations writeConversations(const std::string& folder, std::uint64_t bytes);

/// A store with so many sessions of two entries.
void writeManySessions(const std::string& folder, std::uint64_t count);

}  // namespace bough::bench
