// Entries that travel inside a line of another agent's file, so that entries which the agent's format cannot hold
// survive the way to the agent and back.
//
// A line that bough writes for an entry which another agent wrote ends with a member of bough's own:
//   …,"bough":{"entries":[{"id":…,"parentId":…,"type":…,"timestamp":…,"payload":…},…],"own":1,"sum":"9ae0daaf"}}
// `entries` are stored entries: those that have no line of their own, and the entry that the line was written for.
// `own` is the index of that entry in the list; it is missing when the line only supports another line. `sum` is a
// CRC-32C over the line without the member and over the entries. When the agent has changed the line, the sum does not
// match: then the line is read as it is, and what it carries is ignored. Agents keep members that they do not know, and
// do not send them to their model.
#pragma once

#include <bough/entry.h>
#include <bough/transcript.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/model/origin.h"

namespace bough::transcript {

/// Limit for the entries in one line. A longer line could not be read again (kMaxTranscriptLineBytes).
inline constexpr std::size_t kMaxCarriedBytes = std::size_t{12} << 20;

/// An entry to carry, with the entry that it continues in the file.
struct CarriedEntry {
  std::shared_ptr<const Entry> entry;
  std::string parentId;
};

struct Carried {
  std::vector<Entry> entries;
  std::size_t own = CarriedIds::kNone;  ///< Index of the entry that the line was written for, or kNone.
  std::size_t beginByte = 0;            ///< Where the member begins in the object, including its comma.
};

/// Returns whether an entry can be carried: entries of the conversation, labels and bookkeeping, unless they are
/// redacted.
bool canBeCarried(EntryKind kind, bool isRedacted);

/// Returns an entry with its stored parent. A control entry gets no parent, because its parent means nothing.
CarriedEntry asStored(std::shared_ptr<const Entry> entry);
/// The same for an entry that outlives the result.
CarriedEntry asStored(const Entry& entry);

/// Returns about how many bytes an entry takes in a line.
std::size_t carriedBytes(const Entry& entry);

/// Returns a line (one JSON object with its line end) with the member added. Returns the line unchanged when the result
/// could not be read again.
std::string withCarried(std::string_view line, const std::vector<CarriedEntry>& entries, std::size_t own);

/// Returns what an object carries. std::nullopt when it carries nothing, was changed, or carries something that cannot
/// be an entry.
std::optional<Carried> carriedIn(std::string_view object);

/// What a session is besides its entries. Many formats have no place for it, so the first line that carries entries
/// also carries a session_info entry with this payload; a member is missing when the session does not have it:
///   {"session":{"id":"my-session","as":"01165fb3-…","key":"main:cli:ada","cwd":"/home/ada/bridge","title":"The
///   bridge"}}
struct CarriedSession {
  std::string id;  ///< In the store that the file was exported from.
  std::string as;  ///< The session's id with which the file was written.
  std::string key;
  std::string cwd;
  std::string title;

  /// Adds what a file does not say itself to its facts. `impliedId` is the session id that the name of the file
  /// implies. The session keeps its id in the store unless the file says that it is another session, as a copy does.
  void addTo(TranscriptFacts& facts, std::string_view impliedId) const;
};

/// Returns the entry for a file that is written with these facts.
Entry carriedSessionEntry(const TranscriptFacts& facts, std::string_view timestamp);

/// Returns std::nullopt for any other entry.
std::optional<CarriedSession> carriedSessionIn(const Entry& entry);

}  // namespace bough::transcript
