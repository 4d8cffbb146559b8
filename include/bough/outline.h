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

  /// Calls `use` for an entry and all those above it, upwards. Returns where that ends: kNone at a root, else the
  /// parent that is no earlier entry.
  template <typename Use>
  std::uint32_t walkUp(std::uint32_t sequence, Use use) const {
    auto behind = std::ranges::upper_bound(jumps, sequence, {}, &Jump::sequence);
    for (;;) {
      use(sequence);
      if (behind != jumps.begin() && (behind - 1)->sequence == sequence) {
        const std::uint32_t parent = (behind - 1)->parent;
        if (parent >= sequence) return parent;
        sequence = parent;
        behind = std::ranges::upper_bound(jumps.begin(), behind, sequence, {}, &Jump::sequence);
      } else if (sequence-- == 0) {
        return kNone;
      }
    }
  }
};

}  // namespace bough
