// Vectors of 16 bytes, as the processor has them, and blocks of 64 bytes. Scans over text are built from these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace bough {

#if defined(__aarch64__)
using Bytes = uint8x16_t;
inline Bytes loadBytes(const char* p) {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
}
inline void storeBytes(char* p, Bytes a) {
  vst1q_u8(reinterpret_cast<std::uint8_t*>(p), a);
}
inline Bytes fillBytes(char c) {
  return vdupq_n_u8(static_cast<std::uint8_t>(c));
}
inline Bytes equal(Bytes a, Bytes b) {
  return vceqq_u8(a, b);
}
inline Bytes either(Bytes a, Bytes b) {
  return vorrq_u8(a, b);
}
inline Bytes both(Bytes a, Bytes b) {
  return vandq_u8(a, b);
}
/// Marks the bytes from `first` to `last`, both included.
inline Bytes inRange(Bytes a, char first, char last) {
  return vcleq_u8(vsubq_u8(a, fillBytes(first)), fillBytes(static_cast<char>(last - first)));
}
/// Returns true when every byte is set. Each byte of `a` must be all ones or all zeros.
inline bool all(Bytes a) {
  return vminvq_u8(a) != 0;
}
/// Returns the bits of `a` where `mask` is set, and the bits of `b` elsewhere.
inline Bytes choose(Bytes mask, Bytes a, Bytes b) {
  return vbslq_u8(mask, a, b);
}
/// Returns the last byte of `before`, followed by all bytes of `a` except the last.
inline Bytes shiftIn(Bytes before, Bytes a) {
  return vextq_u8(before, a, 15);
}
/// Returns true when any byte is set. Each byte of `a` must be all ones or all zeros.
inline bool any(Bytes a) {
  return vmaxvq_u32(vreinterpretq_u32_u8(a)) != 0;
}
/// Returns one bit per byte, the first byte in the lowest bit. Each byte must be all ones or all zeros.
inline std::uint64_t bits(Bytes a, Bytes b, Bytes c, Bytes d) {
  const Bytes weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const Bytes low = vpaddq_u8(vandq_u8(a, weights), vandq_u8(b, weights));
  const Bytes high = vpaddq_u8(vandq_u8(c, weights), vandq_u8(d, weights));
  const Bytes all = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
#elif defined(__x86_64__)
using Bytes = __m128i;
inline Bytes loadBytes(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline void storeBytes(char* p, Bytes a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
}
inline Bytes fillBytes(char c) {
  return _mm_set1_epi8(c);
}
inline Bytes equal(Bytes a, Bytes b) {
  return _mm_cmpeq_epi8(a, b);
}
inline Bytes either(Bytes a, Bytes b) {
  return _mm_or_si128(a, b);
}
inline Bytes both(Bytes a, Bytes b) {
  return _mm_and_si128(a, b);
}
inline Bytes inRange(Bytes a, char first, char last) {
  const Bytes above = _mm_sub_epi8(a, fillBytes(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, fillBytes(static_cast<char>(last - first))), above);
}
inline bool all(Bytes a) {
  return _mm_movemask_epi8(a) == 0xFFFF;
}
inline Bytes choose(Bytes mask, Bytes a, Bytes b) {
  return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
}
inline Bytes shiftIn(Bytes before, Bytes a) {
  return _mm_or_si128(_mm_slli_si128(a, 1), _mm_srli_si128(before, 15));
}
inline bool any(Bytes a) {
  return _mm_movemask_epi8(a) != 0;
}
inline std::uint64_t bits(Bytes a, Bytes b, Bytes c, Bytes d) {
  const auto one = [](Bytes x) { return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(x))}; };
  return one(a) | one(b) << 16 | one(c) << 32 | one(d) << 48;
}
#else
using Bytes = std::array<unsigned char, 16>;
template <typename Make>
Bytes eachByte(Make make) {
  Bytes result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<unsigned char>(make(i));
  return result;
}
inline Bytes loadBytes(const char* p) {
  Bytes bytes;
  std::memcpy(bytes.data(), p, bytes.size());
  return bytes;
}
inline void storeBytes(char* p, const Bytes& a) {
  std::memcpy(p, a.data(), a.size());
}
inline Bytes fillBytes(char c) {
  return eachByte([&](std::size_t) { return c; });
}
inline Bytes equal(const Bytes& a, const Bytes& b) {
  return eachByte([&](std::size_t i) { return a[i] == b[i] ? 0xFF : 0; });
}
inline Bytes either(const Bytes& a, const Bytes& b) {
  return eachByte([&](std::size_t i) { return a[i] | b[i]; });
}
inline Bytes both(const Bytes& a, const Bytes& b) {
  return eachByte([&](std::size_t i) { return a[i] & b[i]; });
}
inline Bytes inRange(const Bytes& a, char first, char last) {
  const auto low = static_cast<unsigned char>(first);
  const auto high = static_cast<unsigned char>(last);
  return eachByte([&](std::size_t i) { return a[i] >= low && a[i] <= high ? 0xFF : 0; });
}
inline bool all(const Bytes& a) {
  return std::ranges::all_of(a, [](unsigned char c) { return c != 0; });
}
inline Bytes choose(const Bytes& mask, const Bytes& a, const Bytes& b) {
  return eachByte([&](std::size_t i) { return (a[i] & mask[i]) | (b[i] & ~mask[i]); });
}
inline Bytes shiftIn(const Bytes& before, const Bytes& a) {
  return eachByte([&](std::size_t i) { return i == 0 ? before[15] : a[i - 1]; });
}
inline bool any(const Bytes& a) {
  return std::ranges::any_of(a, [](unsigned char c) { return c != 0; });
}
inline std::uint64_t bits(const Bytes& a, const Bytes& b, const Bytes& c, const Bytes& d) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    all |= std::uint64_t{a[i] & 1U} << i | std::uint64_t{b[i] & 1U} << (16 + i) | std::uint64_t{c[i] & 1U} << (32 + i) |
           std::uint64_t{d[i] & 1U} << (48 + i);
  }
  return all;
}
#endif

/// 64 bytes of text.
struct ByteBlock {
  static constexpr std::size_t kSize = 64;

  explicit ByteBlock(const char* p)
      : a(loadBytes(p)), b(loadBytes(p + 16)), c(loadBytes(p + 32)), d(loadBytes(p + 48)) {}

  void store(char* p) const {
    storeBytes(p, a);
    storeBytes(p + 16, b);
    storeBytes(p + 32, c);
    storeBytes(p + 48, d);
  }
  /// Returns one bit per byte, the first byte in the lowest bit: set where the byte is `wanted`.
  [[nodiscard]] std::uint64_t where(char wanted) const {
    const Bytes x = fillBytes(wanted);
    return bits(equal(a, x), equal(b, x), equal(c, x), equal(d, x));
  }
  /// Returns the same bits, set where `kIs` marks the byte.
  template <Bytes (*kIs)(Bytes)>
  [[nodiscard]] std::uint64_t where() const {
    return bits(kIs(a), kIs(b), kIs(c), kIs(d));
  }
  /// Returns true when `kIs` marks any byte.
  template <Bytes (*kIs)(Bytes)>
  [[nodiscard]] bool has() const {
    return any(either(either(kIs(a), kIs(b)), either(kIs(c), kIs(d))));
  }
  [[nodiscard]] std::uint64_t whereInRange(char first, char last) const {
    return bits(inRange(a, first, last), inRange(b, first, last), inRange(c, first, last), inRange(d, first, last));
  }
  [[nodiscard]] bool isAscii() const { return !any(inRange(either(either(a, b), either(c, d)), '\x80', '\xFF')); }

  Bytes a;
  Bytes b;
  Bytes c;
  Bytes d;
};

}  // namespace bough
