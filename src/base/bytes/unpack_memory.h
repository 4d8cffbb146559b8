// Memory that runs out inside zlib and zstd. It is no damage of what they unpack.
#pragma once

#include <zlib.h>
#include <zstd_errors.h>

#include <cstddef>
#include <new>

namespace bough {

/// What a call of zstd returned. Throws std::bad_alloc when it had no memory.
inline std::size_t zstdResult(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  return code;
}

/// A context that zstd made. Throws std::bad_alloc when there was no memory for one.
template <typename Context>
Context* zstdContext(Context* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

/// What a call of zlib returned. Throws std::bad_alloc when it had no memory.
inline int zlibResult(int code) {
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  return code;
}

}  // namespace bough
