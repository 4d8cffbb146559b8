// Entries that stand for bytes of a log that cannot be read. They are made when a log is read, and never stored.
//
// Their type is `unreadable`, their payload `{"unreadable":{"offset":1234,"bytes":57,"reason":"…"}}`. Id and parent are
// those of the lost entry as far as they are known, so that a walk from an entry to the root goes past the damage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bough/entry.h"

namespace bough {

inline constexpr std::string_view kUnreadableType = "unreadable";

inline bool isUnreadable(const Entry& entry) {
  return entry.type == kUnreadableType;
}

Entry unreadableEntry(std::string id, std::string parentId, std::uint64_t offset, std::uint64_t bytes,
                      std::string_view reason);

/// `[unreadable entry, 57 bytes at offset 1234]`.
std::string unreadableText(const Entry& entry);

}  // namespace bough
