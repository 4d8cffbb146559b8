// The processor's instruction for CRC-32C, for loops that compute the sum while they do other work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__aarch64__)
#include <arm_acle.h>
#define BOUGH_CRC_TARGET __attribute__((target("+crc")))
#elif defined(__x86_64__)
#include <immintrin.h>
#define BOUGH_CRC_TARGET __attribute__((target("sse4.2")))
#endif

namespace bough {

/// Returns true when the processor has the instruction. Otherwise nothing marked BOUGH_CRC_TARGET may be called.
bool hasCrc32cInstruction();

#ifdef BOUGH_CRC_TARGET
BOUGH_CRC_TARGET inline std::uint32_t crc32cStep(std::uint32_t state, std::uint64_t word) {
#if defined(__aarch64__)
  return __crc32cd(state, word);
#else
  return static_cast<std::uint32_t>(_mm_crc32_u64(state, word));
#endif
}

BOUGH_CRC_TARGET inline std::uint32_t crc32cStep8(std::uint32_t state, const char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  return crc32cStep(state, word);
}

BOUGH_CRC_TARGET inline std::uint32_t crc32cStep64(std::uint32_t state, const char* p) {
  for (std::size_t i = 0; i < 64; i += 8) state = crc32cStep8(state, p + i);
  return state;
}
#endif

}  // namespace bough
