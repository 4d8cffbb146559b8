// Maps ids to places in 8 to 16 bytes per id. The ids themselves are stored elsewhere.
//
// An open-addressing hash table. The id of each candidate is looked up and compared, so ids with equal hashes are kept
// apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/bytes/flat_map.h"
#include "bough/entry.h"

namespace bough::transcript {

class IdPlaces {
 public:
  /// Returns kNoSequence when the id is not known. `idAt` returns the id at a place.
  template <typename IdAt>
  [[nodiscard]] Sequence find(std::string_view id, const IdAt& idAt) const {
    return slots_.empty() ? kNoSequence : slots_[slotOf(id, idAt)];
  }

  /// Adds a place. When two places have the same id, the first one is found.
  template <typename IdAt>
  void add(Sequence place, const IdAt& idAt) {
    if ((count_ + 1) * 2 > slots_.size()) grow(idAt);
    Sequence& slot = slots_[slotOf(idAt(place), idAt)];
    if (slot != kNoSequence) return;
    slot = place;
    ++count_;
  }

 private:
  // Returns the slot of an id, or the free slot where it belongs.
  template <typename IdAt>
  [[nodiscard]] std::size_t slotOf(std::string_view id, const IdAt& idAt) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hashOf(id) & mask;
    while (slots_[at] != kNoSequence && idAt(slots_[at]) != id) at = (at + 1) & mask;
    return at;
  }

  template <typename IdAt>
  void grow(const IdAt& idAt) {
    constexpr std::size_t kFewest = 64;
    std::vector<Sequence> old(std::max(kFewest, slots_.size() * 2), kNoSequence);
    old.swap(slots_);
    for (const Sequence place : old) {
      if (place != kNoSequence) slots_[slotOf(idAt(place), idAt)] = place;
    }
  }

  std::vector<Sequence> slots_;  // a power of two of slots, at most half of them used; a free slot is kNoSequence
  std::size_t count_ = 0;
};

}  // namespace bough::transcript
