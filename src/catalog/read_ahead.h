// Reads a log on a thread of its own, while the entries before are put into the catalog.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bough/store.h"
#include "catalog/database/entry_facts.h"
#include "catalog/search/search_index.h"

namespace bough::catalog {

/// An entry, and all that can be told of it without the catalog.
struct ReadEntry {
  std::uint64_t sequence = 0;
  Entry entry;
  EntryFacts facts = {};  ///< Of entries that are part of the conversation.
  IndexText text{{}};     ///< Where it was asked for.
};

/// What is to be read of a session.
struct ReadRange {
  std::string sessionId;
  std::uint64_t from = 0;
  std::uint64_t count = 0;
  std::uint64_t textFrom = UINT64_MAX;  ///< The entries from here on are read with their text.
  bool forIndex = true;                 ///< The text is wanted as an IndexText, too.
  std::vector<Entry>* known = nullptr;  ///< The entries themselves, when the caller has them: nothing is read.
};

/// Whether an entry is part of the conversation: neither a header nor an entry that says something about others.
bool isConversation(const Entry& entry);

/// Calls `use` for each entry, in the order of the log, on the thread of the caller.
Result<void> readAhead(SessionStore& store, const ReadRange& range, const std::function<void(ReadEntry&)>& use);

}  // namespace bough::catalog
