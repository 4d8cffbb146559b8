#include "memory/failing_memory.h"

#include <cstdlib>

namespace bough {

thread_local long allocationsLeft = -1;
std::atomic<long> allocationsLeftOfAll = -1;

namespace {

void* allocate(std::size_t size) {
  if (allocationsLeftOfAll >= 0 && allocationsLeftOfAll-- == 0) throw std::bad_alloc();
  if (allocationsLeft >= 0 && allocationsLeft-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace bough

void* operator new(std::size_t size) {
  return bough::allocate(size);
}
void* operator new[](std::size_t size) {
  return bough::allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
