// Conversations of a coding agent, once as sessions of bough and once as Claude Code stores them. The same seed gives
// the same conversations, and words have a natural frequency.
#pragma once

#include <cstdint>
#include <string>

namespace bough::bench {

struct Conversations {
  std::string store;     ///< bough's folder.
  std::string claude;    ///< Claude Code's folder, as CLAUDE_CONFIG_DIR names it.
  std::string texts;     ///< A file with every text that search indexes: its size in eight bytes, then the text.
  std::string rareWord;  ///< Occurs in twenty entries.
  std::uint64_t entries = 0;
};

/// Writes about `bytes` of conversations, in a hundred sessions.
Conversations writeConversations(const std::string& folder, std::uint64_t bytes);

/// Writes a store with `count` sessions of two entries each.
void writeManySessions(const std::string& folder, std::uint64_t count);

}  // namespace bough::bench
