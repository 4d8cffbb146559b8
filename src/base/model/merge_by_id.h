// Merges elements that have the same 64-bit id, without sorting them.
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

/// Keeps one element for each `id`, in order of first appearance. `merge(first, other)` merges a later element into the
/// first one.
template <typename Item, typename Allocator, typename Merge>
void mergeById(std::vector<Item, Allocator>& items, Merge merge) {
  constexpr std::size_t kAhead = 16;  // prefetch distance, in slots
  struct Slot {
    std::uint64_t id = 0;
    std::size_t indexPlusOne = 0;  // 0: free
  };
  // At most half of the slots are used.
  std::vector<Slot, HugePageAllocator<Slot>> slots(std::bit_ceil(std::max<std::size_t>(2 * items.size(), 2)));
  // The ids may be chosen by an attacker who wants all of them in one slot. The attacker does not know this number.
  const std::uint64_t factor = systemEnvironment().random.next() | 1;
  const int shift = 64 - std::countr_zero(slots.size());
  const auto slotOf = [&](const Item& item) { return static_cast<std::size_t>(item.id * factor >> shift); };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) __builtin_prefetch(&slots[slotOf(items[i + kAhead])], 1);
    std::size_t at = slotOf(items[i]);
    while (slots[at].indexPlusOne != 0 && slots[at].id != items[i].id) at = (at + 1) % slots.size();
    Slot& slot = slots[at];
    if (slot.indexPlusOne != 0) {
      merge(items[slot.indexPlusOne - 1], std::as_const(items[i]));
      continue;
    }
    slot = {.id = items[i].id, .indexPlusOne = kept + 1};
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
}

}  // namespace bough
