// What byte_block.h has, under the same names, for processors of x86 with AVX2: thirty-two bytes at a time.
//
// No part of the build is compiled for such processors as a whole, since it must run on others, too. compile_loops.h
// compiles a file of loops twice, and hasAvx2() chooses.
#pragma once

#include "base/bytes/byte_block.h"

namespace bough {

/// Whether loops use AVX2: the processor has it, and no test has said otherwise.
bool hasAvx2();
/// For tests, which compare both ways; not while other threads read text.
void allowAvx2(bool allowed);

}  // namespace bough

#if defined(__x86_64__)
#include <immintrin.h>

// Functions between these two are compiled for AVX2 and for what every processor with it has, too.
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
  [[nodiscard]] bool isAscii() const { return !any(either(a, b)); }  // `any` looks at the highest bits

  Bytes a;
  Bytes b;
};

}  // namespace bough::avx2
BOUGH_AVX2_END
#endif
