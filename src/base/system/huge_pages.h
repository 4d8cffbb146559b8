// Memory for tables that are looked up at random: when they are large they are asked for in huge pages, since each
// lookup would otherwise pay for a walk through the page tables as well.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
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

/// Asks for huge pages where whole ones fit into memory that nobody has touched yet. Where much memory is used once,
/// touching its pages for the first time would cost more than using them.
inline void useHugePages(void* memory, std::size_t sizeBytes) {
  constexpr std::size_t kPageBytes = HugePageAllocator<char>::kPageBytes;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) % kPageBytes;
  if (sizeBytes < before + kPageBytes) return;
  (void)::madvise(static_cast<char*>(memory) + before, (sizeBytes - before) / kPageBytes * kPageBytes, MADV_HUGEPAGE);
}

}  // namespace bough
