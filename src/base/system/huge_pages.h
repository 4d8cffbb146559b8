// Large memory in huge pages: tables that are looked up at random, since each lookup would otherwise pay for a walk
// through the page tables as well, and long texts that are written from their beginning to their end.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace bough {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Asks for huge pages in memory that was just allocated and will be filled. A text of many megabytes otherwise pays
/// more for its first touch of each usual page than for its bytes. Changes nothing where the memory is small.
inline void wantHugePages(const void* begin, std::size_t sizeBytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const std::uintptr_t last = (address + sizeBytes) / kHugePageBytes * kHugePageBytes;
  if (first >= last) return;
  // Where there are none, usual ones do.
  (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

template <typename T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = kHugePageBytes;

  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): containers rebind

  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
    if (isSmall(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
    // One page more than is needed, so that what is kept begins where a huge page may. The rest goes back.
    const std::size_t bytes = wholePages(count);
    void* const mapped =
        ::mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(mapped);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kPageBytes;
    if (before > 0) (void)::munmap(begin, before);
    if (before < kPageBytes) (void)::munmap(begin + before + bytes, kPageBytes - before);
    (void)::madvise(begin + before, bytes, MADV_HUGEPAGE);  // where there are none, usual ones do
    return reinterpret_cast<T*>(begin + before);
  }
  void deallocate(T* memory, std::size_t count) {
    if (isSmall(count)) return ::operator delete(memory);
    (void)::munmap(memory, wholePages(count));
  }
  bool operator==(const HugePageAllocator& /*other*/) const = default;

 private:
  static bool isSmall(std::size_t count) { return count * sizeof(T) < kPageBytes; }
  static std::size_t wholePages(std::size_t count) {
    return (count * sizeof(T) + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
};

}  // namespace bough
