// The functions and types of byte_block.h, under the same names, for x86 processors with AVX2: 32 bytes at a time.
//
// The build as a whole is not compiled for AVX2, because it must also run on processors without it. Instead,
// compile_loops.h compiles a file of loops twice, and hasAvx2() chooses between the two at run time.
#pragma once

#include "base/bytes/byte_block.h"

namespace bough {

/// Returns true when loops should use AVX2: the processor has it, and no test has switched it off.
bool hasAvx2();
/// Switches AVX2 on or off, for tests that compare both versions. Must not be called while other threads read text.
void allowAvx2(bool allowed);

}  // namespace bough

#if defined(__x86_64__)
#include <immintrin.h>

// Functions between BOUGH_AVX2_BEGIN and BOUGH_AVX2_END are compiled for AVX2 and for the instruction sets that every
// processor with AVX2 has.
#if defined(__clang__)
#define BOUGH_AVX2_BEGIN \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2,popcnt\"))), apply_to = function)")
#define BOUGH_AVX2_END _Pragma("clang attribute pop")
#else
#define BOUGH_AVX2_BEGIN _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,bmi,bmi2,popcnt\")")
#define BOUGH_AVX2_END _Pragma("GCC pop_options")
#endif

BOUGH_AVX2_BEGIN
namespace bough::avx2 {

using Bytes = __m256i;
inline Bytes loadBytes(const char* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Bytes fillBytes(char c) {
  return _mm256_set1_epi8(c);
}
inline Bytes equal(Bytes a, Bytes b) {
  return _mm256_cmpeq_epi8(a, b);
}
inline Bytes either(Bytes a, Bytes b) {
  return _mm256_or_si256(a, b);
}
inline Bytes inRange(Bytes a, char first, char last) {
  const Bytes above = _mm256_sub_epi8(a, fillBytes(first));
  return _mm256_cmpeq_epi8(_mm256_min_epu8(above, fillBytes(static_cast<char>(last - first))), above);
}
inline bool any(Bytes a) {
  return _mm256_movemask_epi8(a) != 0;
}
inline std::uint64_t bits(Bytes a, Bytes b) {
  const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(a));
  const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(b));
  return low | std::uint64_t{high} << 32;
}

struct ByteBlock {
  static constexpr std::size_t kSize = 64;

  explicit ByteBlock(const char* p) : a(loadBytes(p)), b(loadBytes(p + 32)) {}

  [[nodiscard]] std::uint64_t where(char wanted) const {
    const Bytes x = fillBytes(wanted);
    return bits(equal(a, x), equal(b, x));
  }
  template <Bytes (*kIs)(Bytes)>
  [[nodiscard]] std::uint64_t where() const {
    return bits(kIs(a), kIs(b));
  }
  [[nodiscard]] std::uint64_t whereInRange(char first, char last) const {
    return bits(inRange(a, first, last), inRange(b, first, last));
  }
  [[nodiscard]] bool isAscii() const { return !any(either(a, b)); }  // `any` tests the highest bit of each byte

  Bytes a;
  Bytes b;
};

}  // namespace bough::avx2
BOUGH_AVX2_END
#endif
