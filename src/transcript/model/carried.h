// Entries that travel inside a line of another agent's file, so that what the agent's format cannot hold comes back.
//
// A line that bough writes for an entry of another origin ends with a member of bough's own:
//   …,"bough":{"entries":[{"id":…,"parentId":…,"type":…,"timestamp":…,"payload":…},…],"own":1,"sum":"9ae0daaf"}}
// `entries` are stored entries: those that left no line of their own, and the one that the line was written for (`own`
// is its place in the list; left out when the line only helps another one). `sum` is a CRC-32C over the line without
// the member and over the entries: when the agent changed the line, the line counts, and not what it carries. Agents
// keep members that they do not know, and do not send them to their model.
#pragma once

#include <bough/entry.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/model/origin.h"

namespace bough::transcript {

/// More bytes of entries are not put into one line: a longer line would not be read (kMaxTranscriptLineBytes).
inline constexpr std::size_t kMaxCarriedBytes = std::size_t{12} << 20;

/// An entry on its way, with the entry that it continues there.
struct CarriedEntry {
  std::shared_ptr<const Entry> entry;
  std::string parentId;
};

struct Carried {
  std::vector<Entry> entries;
  std::size_t own = CarriedIds::kNone;  ///< The entry that the line was written for; kNone when it has none.
  std::size_t beginByte = 0;            ///< Of the member in the object, its comma included.
};

/// Whether an entry can travel: the conversation, names and bookkeeping, as long as nothing hides it.
bool canBeCarried(EntryKind kind, bool isRedacted);

/// An entry with the parent that it is stored with. That of a control entry says nothing.
CarriedEntry asStored(std::shared_ptr<const Entry> entry);
/// The same for an entry that outlives it.
CarriedEntry asStored(const Entry& entry);

/// How many bytes an entry takes in a line, about.
std::size_t carriedBytes(const Entry& entry);

/// A line (one JSON object with its line end) with the member added. Unchanged when it would not be read again.
std::string withCarried(std::string_view line, const std::vector<CarriedEntry>& entries, std::size_t own);

/// What an object carries; none when it carries nothing, was changed, or carries what cannot be an entry.
std::optional<Carried> carriedIn(std::string_view object);

}  // namespace bough::transcript
