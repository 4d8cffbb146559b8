#include "memory/failing_memory.h"

#include <cstdlib>
#include <new>

namespace bough {

thread_local long allocationsLeft = -1;
std::atomic<long> allocationsLeftOfAll = -1;
thread_local long systemAllocationsLeft = -1;

namespace {

void* allocateOrNot(std::size_t size) {
  if (allocationsLeftOfAll >= 0 && allocationsLeftOfAll-- == 0) return nullptr;
  if (allocationsLeft >= 0 && allocationsLeft-- == 0) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate(std::size_t size) {
  void* memory = allocateOrNot(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace bough

#ifndef BOUGH_SANITIZED                            // sanitizers have their own malloc
extern "C" void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
extern "C" void* malloc(std::size_t size) noexcept {
  if (bough::systemAllocationsLeft >= 0 && bough::systemAllocationsLeft-- == 0) return nullptr;
  return __libc_malloc(size);
}
#endif

void* operator new(std::size_t size) {
  return bough::allocate(size);
}
void* operator new[](std::size_t size) {
  return bough::allocate(size);
}
// A stable sort requests its buffer in this way, and works without it.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return bough::allocateOrNot(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return bough::allocateOrNot(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
