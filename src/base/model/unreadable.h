// Entries that stand for what cannot be read: bytes of a log, or an attachment. They are made when a session is read,
// and never stored.
//
// Their type is `unreadable`, their payload `{"unreadable":{"offset":1234,"bytes":57,"reason":"…"}}`, with `attachment`
// (its SHA-256) in place of `offset` where that is lost. Id and parent are those of the lost entry as far as they are
// known, so that a walk from an entry to the root goes past the damage.
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

/// The id of an unreadable entry of which nothing is known: that of its place. Entries that name it mean what is there,
/// also once that can be read again.
std::string unreadableId(std::uint64_t offset);
/// The offset in such an id.
std::optional<std::uint64_t> offsetOfUnreadableId(std::string_view id);

Entry unreadableEntry(std::string id, std::string parentId, std::uint64_t offset, std::uint64_t bytes,
                      std::string_view reason);

/// Lets an entry stand for its lost attachment.
void makeUnreadable(Entry& entry, std::string_view attachment, std::uint64_t bytes, std::string_view reason);

/// Notes in such an entry that it was redacted: `redacted` is `{"redacted":{…}}`. Its place stays.
void addRedaction(Entry& entry, std::string_view redacted);

/// Makes of such an entry one that can be stored in another session: its words, as a custom entry.
void keepAsText(Entry& entry);

/// `[unreadable entry, 57 bytes at offset 1234]`, with `, redacted` when it was, or `[unreadable entry, 57 bytes of
/// attachment 27c874a0]`.
std::string unreadableText(const Entry& entry);

}  // namespace bough
