// Sessions and entries as texts for a model: limited in length, and cut only between characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_write.h"
#include "bough/catalog.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough::serve {

/// The approximate maximum length of a tool's result.
inline constexpr std::size_t kMaxResultBytes = 40'000;
/// The maximum text of one entry in a list.
inline constexpr std::size_t kMaxListedBytes = 6'000;

/// Returns the whole content of an entry: texts, thinking, tool calls with their arguments, results.
std::string entryText(const Entry& entry);

/// Returns the part of a text that starts at `from` and has at most `maxBytes` bytes. Cuts only between characters.
std::string_view textPart(std::string_view text, std::size_t from, std::size_t maxBytes);

/// Writes an entry as an object. A text longer than `maxBytes` bytes of JSON is cut; `nextOffset` then tells where to
/// continue.
void writeEntry(json::Writer& writer, const Entry& entry, std::size_t from, std::size_t maxBytes);

/// Returns the session that a name from a model refers to: an id, a key, a unique id prefix, or a unique part of a
/// title.
Result<std::string> findSession(Catalog& catalog, const std::string& name);

/// A section of a branch.
struct BranchSection {
  std::string branch;      ///< The branch that ends in this entry; empty: the head.
  std::uint64_t from = 0;  ///< The place on the branch, 0 for the root.
  std::uint64_t last = 0;  ///< If set, start this many messages before the end instead.
  std::uint64_t limit = 50;
};
/// Returns an object with the entries of the section, and `next`: the place to continue from, or null.
Result<std::string> readSection(SessionStore& store, const std::string& sessionId, const BranchSection& section);

/// Adds to a result which of its sessions cannot be read completely: as the member `notRead` if the result is an
/// object, otherwise as lines after the text.
std::string addUnreadableNotes(SessionStore& store, std::string result, std::vector<std::string> sessionIds);

}  // namespace bough::serve
