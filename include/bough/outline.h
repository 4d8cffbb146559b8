// The shape of a session: what kind each entry is and where entries do not simply follow the one before them. It is
// taken from the index without reading an entry; the tree (tree.h) is built from this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bough/entry.h"

namespace bough {

/// An entry is the child of the one before it unless a jump says otherwise; the first one is a root.
struct SessionOutline {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kElsewhere = 0xFFFFFFFE;

  struct Jump {
    std::uint32_t sequence = 0;
    /// The parent's sequence; kNone for a root; kElsewhere when the parent is no earlier entry of these.
    std::uint32_t parent = kNone;
  };

  std::vector<EntryKind> kinds;  ///< By sequence.
  std::vector<Jump> jumps;       ///< By sequence, ascending.
  std::uint32_t head = kNone;    ///< As Jump::parent; kNone before the first entry.

  /// Adds an entry behind the others.
  void add(EntryKind kind, std::uint32_t parent) {
    const auto sequence = static_cast<std::uint32_t>(kinds.size());
    if (sequence == 0 ? parent != kNone : parent != sequence - 1) jumps.push_back({sequence, parent});
    kinds.push_back(kind);
  }

  /// Calls `use(first, last)` for each stretch of entries that follow one another on the way from an entry up. Returns
  /// where that ends: kNone at a root, else the parent that is no earlier entry.
  template <typename Use>
  [[nodiscard]] std::uint32_t walkUp(std::uint32_t sequence, Use use) const {
    auto behind = jumps.end();
    for (;;) {
      behind = std::ranges::upper_bound(jumps.begin(), behind, sequence, {}, &Jump::sequence);
      const bool whole = behind == jumps.begin();  // nothing between it and the first entry
      const std::uint32_t first = whole ? 0 : (behind - 1)->sequence;
      const std::uint32_t parent = whole ? kNone : (behind - 1)->parent;
      use(first, sequence);
      if (parent >= first) return parent;
      sequence = parent;
    }
  }
};

}  // namespace bough
