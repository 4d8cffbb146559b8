// A set of entry kinds, and a search for them that compares 64 kinds at a time, because a session has hundreds of
// thousands of entries.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/bytes/byte_block.h"
#include "bough/entry.h"

namespace bough {

class KindSet {
 public:
  void add(EntryKind kind) { bits_ |= bitOf(kind); }
  [[nodiscard]] bool contains(EntryKind kind) const { return (bits_ & bitOf(kind)) != 0; }

  /// Returns the first position at or after `from` whose kind is in the set; the size when there is none.
  [[nodiscard]] std::size_t find(std::span<const EntryKind> kinds, std::size_t from) const {
    for (; from + ByteBlock::kSize <= kinds.size() && !contains(kinds[from]); from += ByteBlock::kSize) {
      const std::uint64_t found = placesIn(kinds.data() + from);
      if (found != 0) return from + static_cast<std::size_t>(std::countr_zero(found));
    }
    while (from < kinds.size() && !contains(kinds[from])) ++from;
    return from;
  }

 private:
  static_assert(sizeof(EntryKind) == 1);

  static std::uint64_t bitOf(EntryKind kind) { return std::uint64_t{1} << (static_cast<unsigned>(kind) % 64); }

  // Returns one bit per kind of a block. Kinds with neighbouring numbers are compared as one range.
  [[nodiscard]] std::uint64_t placesIn(const EntryKind* part) const {
    const ByteBlock block(reinterpret_cast<const char*>(part));
    std::uint64_t found = 0;
    for (std::uint64_t rest = bits_; rest != 0;) {
      const int first = std::countr_zero(rest);
      const int last = first + std::countr_one(rest >> first) - 1;
      found |= block.whereInRange(static_cast<char>(first), static_cast<char>(last));
      rest &= ~(~std::uint64_t{0} >> (63 - last));
    }
    return found;
  }

  std::uint64_t bits_ = 0;
};

/// Returns the first position at or after `from` whose entry is not part of the conversation; the size when there is
/// none.
inline std::size_t conversationEnd(std::span<const EntryKind> kinds, std::size_t from) {
  const auto allAre = [](const EntryKind* part) {
    const Bytes some = loadBytes(reinterpret_cast<const char*>(part));
    const Bytes control = inRange(some, static_cast<char>(EntryKind::Head), '\xFF');
    return !any(either(control, equal(some, fillBytes(static_cast<char>(EntryKind::SessionHeader)))));
  };
  while (from + sizeof(Bytes) <= kinds.size() && allAre(kinds.data() + from)) from += sizeof(Bytes);
  while (from < kinds.size() && isConversation(kinds[from])) ++from;
  return from;
}

}  // namespace bough
