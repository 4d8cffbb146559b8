// Entries that replace what cannot be read: bytes of a log, or an attachment. They are made when a session is read, and
// never stored.
//
// Their type is `unreadable` and their payload `{"unreadable":{"offset":1234,"bytes":57,"reason":"…"}}`. For a lost
// attachment the payload has `attachment` (its SHA-256) instead of `offset`. Id and parent are taken from the lost
// entry as far as they are known, so that a walk from an entry to the root can pass the damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"

namespace bough {

inline constexpr std::string_view kUnreadableType = "unreadable";

inline bool isUnreadable(const Entry& entry) {
  return entry.type == kUnreadableType;
}

/// Returns the id of an unreadable entry whose own id is unknown; it encodes the offset. A reference to this id means
/// whatever is at that offset, also after the bytes become readable again.
std::string unreadableId(std::uint64_t offset);
/// Returns the offset in such an id; std::nullopt for any other id.
std::optional<std::uint64_t> offsetOfUnreadableId(std::string_view id);

Entry unreadableEntry(std::string id, std::string parentId, std::uint64_t offset, std::uint64_t bytes,
                      std::string_view reason);

/// Replaces the payload of an entry by a note that its attachment is lost.
void makeUnreadable(Entry& entry, std::string_view attachment, std::uint64_t bytes, std::string_view reason);

/// Notes in an unreadable entry that it was redacted: `redacted` is `{"redacted":{…}}`. The entry keeps its place.
void addRedaction(Entry& entry, std::string_view redacted);

/// Turns an unreadable entry into one that another session can store: a custom entry with its description as text.
void keepAsText(Entry& entry);

/// Returns `[unreadable entry, 57 bytes at offset 1234]`, with `, redacted` after a redaction, or `[unreadable entry,
/// 57 bytes of attachment 27c874a0]`.
std::string unreadableText(const Entry& entry);

}  // namespace bough
