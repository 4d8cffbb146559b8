// A map and a set of 64-bit numbers (positions, offsets, hashes of ids) in one block of memory: 11 to 21 bytes per
// element of a set, where std::unordered_set takes about 45. Meant for data kept for each entry of a long session.
//
// Open addressing. Elements have no order, and a pointer to a value is valid until the next insert or erase. The key
// 2^64-1 is treated as 0, which does no harm: positions and offsets are smaller, and hashes may collide anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/long_hash.h"

namespace bough {

/// Returns the hash under which a text is kept in memory. It may differ between processes.
inline std::uint64_t hashOf(std::string_view text) {
  constexpr std::size_t kLongBytes = 256;
  return text.size() < kLongBytes ? std::hash<std::string_view>{}(text) : hashOfLong(text);
}

template <typename Value>
class FlatMap {
 public:
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  void clear() { *this = FlatMap(); }
  [[nodiscard]] static constexpr std::size_t slotBytes() { return sizeof(Slot); }

  [[nodiscard]] bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  [[nodiscard]] const Value* find(std::uint64_t key) const {
    if (count_ == 0) return nullptr;
    const Slot& slot = slots_[slotOf(stored(key))];
    return slot.key == kFree ? nullptr : &slot.value;
  }

  /// Returns false and changes nothing when the key already exists.
  bool insert(std::uint64_t key, Value value = {}) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[slotOf(stored(key))];
    if (slot.key != kFree) return false;
    slot.key = stored(key);
    slot.value = std::move(value);
    ++count_;
    return true;
  }

  void set(std::uint64_t key, Value value) {
    if (!insert(key, value)) slots_[slotOf(stored(key))].value = std::move(value);
  }

  bool erase(std::uint64_t key) {
    if (count_ == 0) return false;
    std::size_t free = slotOf(stored(key));
    if (slots_[free].key == kFree) return false;
    // Move up later elements that were displaced from their slot, so that no free slot interrupts their search.
    for (std::size_t at = next(free); slots_[at].key != kFree; at = next(at)) {
      const std::size_t home = homeOf(slots_[at].key);
      if (((at - home) & mask()) < ((at - free) & mask())) continue;
      slots_[free] = std::move(slots_[at]);
      free = at;
    }
    slots_[free] = Slot();
    --count_;
    return true;
  }

 private:
  static constexpr std::uint64_t kFree = 0;
  struct Slot {
    std::uint64_t key = kFree;
    [[no_unique_address]] Value value{};
  };

  static std::uint64_t stored(std::uint64_t key) { return key + 1 == kFree ? 1 : key + 1; }

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t slot) const { return (slot + 1) & mask(); }
  [[nodiscard]] std::size_t homeOf(std::uint64_t key) const {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    const std::uint64_t mixed = key * kOdd;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32)) & mask();
  }

  // Returns the slot of the key, or the free slot where it would go.
  [[nodiscard]] std::size_t slotOf(std::uint64_t key) const {
    std::size_t at = homeOf(key);
    while (slots_[at].key != kFree && slots_[at].key != key) at = next(at);
    return at;
  }

  void grow() {
    constexpr std::size_t kFewest = 16;
    std::vector<Slot> old(slots_.empty() ? kFewest : slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.key != kFree) slots_[slotOf(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // size is a power of two; at most three quarters are used
  std::size_t count_ = 0;
};

struct Nothing {};
using NumberSet = FlatMap<Nothing>;

}  // namespace bough
