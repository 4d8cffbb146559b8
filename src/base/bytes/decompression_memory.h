// Reports out of memory inside zlib and zstd as std::bad_alloc, so that it is not taken for damaged input.
#pragma once

#include <zlib.h>
#include <zstd_errors.h>

#include <cstddef>
#include <new>

namespace bough {

/// Returns `code`, the result of a call to zstd. Throws std::bad_alloc when zstd ran out of memory.
inline std::size_t zstdResult(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  return code;
}

/// Returns `made`, a context from zstd. Throws std::bad_alloc when zstd could not allocate it.
template <typename Context>
Context* zstdContext(Context* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

/// Returns `code`, the result of a call to zlib. Throws std::bad_alloc when zlib ran out of memory.
inline int zlibResult(int code) {
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  return code;
}

}  // namespace bough
