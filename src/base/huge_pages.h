// Memory for tables that are looked up at random: when they are large they are asked for in huge pages, since each
// lookup would otherwise pay for a walk through the page tables as well.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace bough {

template <typename T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): containers rebind

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kPageBytes) return static_cast<T*>(::operator new(bytes));
    const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* memory = ::operator new(whole, std::align_val_t{kPageBytes});
    (void)::madvise(memory, whole, MADV_HUGEPAGE);  // where there are none, usual ones do
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kPageBytes) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t{kPageBytes});
  }
  bool operator==(const HugePageAllocator& /*other*/) const = default;
};

}  // namespace bough
