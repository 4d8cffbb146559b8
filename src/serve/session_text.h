// Sessions and entries as texts for a model: bounded, and cut where a character ends.
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

/// A tool's result is about this long at most.
inline constexpr std::size_t kMaxResultBytes = 40'000;
/// What is shown of one entry in a list of several.
inline constexpr std::size_t kMaxListedBytes = 6'000;

/// All that an entry says: texts, thinking, tool calls with their arguments, results.
std::string entryText(const Entry& entry);

/// The part of a text that begins at `from` and has at most `most` bytes; begins and ends between characters.
std::string_view textPart(std::string_view text, std::size_t from, std::size_t most);

/// Writes an entry as an object. Longer texts are cut at `most` bytes of JSON, with `nextOffset` to read on.
void writeEntry(json::Writer& writer, const Entry& entry, std::size_t from, std::size_t most);

/// The session that a model's name means: an id, a key, the beginning of an id, or part of a title, if that is one.
Result<std::string> findSession(Catalog& catalog, const std::string& name);

/// A stretch of a branch.
struct Stretch {
  std::string branch;      ///< Ends in this entry; empty: in the head.
  std::uint64_t from = 0;  ///< The place on the branch, 0 for the root.
  std::uint64_t last = 0;  ///< Instead: so many from the end.
  std::uint64_t limit = 50;
};
/// As an object with the entries of that stretch, and `next`: the place to read on from, or null.
Result<std::string> readStretch(SessionStore& store, const std::string& sessionId, const Stretch& stretch);

/// A result, and which of the sessions it is about cannot be read whole: as `notRead` in an object, else as lines after
/// the text.
std::string withNotRead(SessionStore& store, std::string result, std::vector<std::string> sessionIds);

}  // namespace bough::serve
