// Brings things together that have the same id of 64 bits, without sorting them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/system/environment.h"
#include "base/system/huge_pages.h"

namespace bough {

/// Leaves each `id` once, in the order of the first ones; `merge(first, other)` takes in one that comes later.
template <typename Item, typename Allocator, typename Merge>
void mergeById(std::vector<Item, Allocator>& items, Merge merge) {
  constexpr std::size_t kAhead = 16;  // so many slots are fetched while others are looked at
  struct Slot {
    std::uint64_t id = 0;
    std::size_t placeAndOne = 0;  // 0: free
  };
  // At most half are used.
  std::vector<Slot, HugePageAllocator<Slot>> slots(std::bit_ceil(std::max<std::size_t>(2 * items.size(), 2)));
  // Ids may come from somebody who wants all of them to meet in one slot, but does not know this number.
  const std::uint64_t factor = systemEnvironment().random.next() | 1;
  const int shift = 64 - std::countr_zero(slots.size());
  const auto slotOf = [&](const Item& item) { return static_cast<std::size_t>(item.id * factor >> shift); };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) __builtin_prefetch(&slots[slotOf(items[i + kAhead])], 1);
    std::size_t at = slotOf(items[i]);
    while (slots[at].placeAndOne != 0 && slots[at].id != items[i].id) at = (at + 1) % slots.size();
    Slot& slot = slots[at];
    if (slot.placeAndOne != 0) {
      merge(items[slot.placeAndOne - 1], std::as_const(items[i]));
      continue;
    }
    slot = {.id = items[i].id, .placeAndOne = kept + 1};
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
}

}  // namespace bough
