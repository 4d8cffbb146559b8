// Reads a log on its own thread while earlier entries are being put into the catalog.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bough/store.h"
#include "catalog/database/entry_facts.h"
#include "catalog/search/search_index.h"

namespace bough::catalog {

/// An entry, and everything that can be derived from it without the catalog.
struct ReadEntry {
  std::uint64_t sequence = 0;
  Entry entry;
  EntryFacts facts = {};  ///< For entries that are part of the conversation.
  IndexText text{{}};     ///< When requested.
};

/// The part of a session to read.
struct ReadRange {
  std::string sessionId;
  std::uint64_t from = 0;
  std::uint64_t count = 0;
  std::uint64_t textFrom = UINT64_MAX;  ///< Entries from here on are read with their text.
  bool forIndex = true;                 ///< The text is also needed as an IndexText.
  std::vector<Entry>* known = nullptr;  ///< The entries, when the caller already has them; then nothing is read.
};

/// Returns true when an entry is part of the conversation: neither a header nor an entry about other entries.
bool isConversation(const Entry& entry);

/// Calls `use` for each entry in log order, on the caller's thread.
Result<void> readAhead(SessionStore& store, const ReadRange& range, const std::function<void(ReadEntry&)>& use);

}  // namespace bough::catalog
