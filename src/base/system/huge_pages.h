// Huge pages for large blocks of memory: for tables with random access, where each lookup would otherwise also walk the
// page tables, and for long texts that are written from start to end.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace bough {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Requests huge pages for memory that was just allocated and will be filled. Without them, a text of many megabytes
/// costs more for the first access to each normal page than for its bytes. Does nothing for small blocks.
inline void wantHugePages(const void* begin, std::size_t sizeBytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const std::uintptr_t last = (address + sizeBytes) / kHugePageBytes * kHugePageBytes;
  if (first >= last) return;
  // When this fails, normal pages are used.
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
    // Map one page more than needed, so that the part kept starts at a multiple of the huge page size. Unmap the rest.
    const std::size_t bytes = wholePages(count);
    void* const mapped =
        ::mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(mapped);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kPageBytes;
    if (before > 0) (void)::munmap(begin, before);
    if (before < kPageBytes) (void)::munmap(begin + before + bytes, kPageBytes - before);
    (void)::madvise(begin + before, bytes, MADV_HUGEPAGE);  // when this fails, normal pages are used
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
