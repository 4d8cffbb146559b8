// A session as columns: who each entry's parent is and what kind of entry it is, taken from the index without reading
// an entry. The tree (tree.h) is built from this.
#pragma once

#include <cstdint>
#include <vector>

#include "bough/entry.h"

namespace bough {

/// One row an entry, by its sequence.
struct SessionOutline {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kElsewhere = 0xFFFFFFFE;

  /// The parent's sequence; kNone for a root; kElsewhere when the parent is no earlier entry of these.
  std::vector<std::uint32_t> parents;
  std::vector<EntryKind> kinds;
  std::uint32_t head = kNone;  ///< As `parents`; kNone before the first entry.
};

}  // namespace bough
