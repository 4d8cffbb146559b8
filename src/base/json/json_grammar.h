// The small parts of the JSON grammar that all readers share.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace bough::json {

constexpr bool isBlank(char c) {
  if (static_cast<unsigned char>(c) > ' ') return false;  // the usual case
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
/// Returns true when the byte represents itself inside a string.
constexpr bool isPlain(char c) {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

/// Skips bytes that represent themselves inside a string, sixteen at a time where the processor can.
inline const char* skipPlain(const char* at, const char* end) {
#if defined(__aarch64__)
  for (; end - at >= 16; at += 16) {
    uint8x16_t bytes;
    std::memcpy(&bytes, at, 16);
    const uint8x16_t special = vorrq_u8(vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\'))),
                                        vcltq_u8(bytes, vdupq_n_u8(0x20)));
    // Four bits per byte, so the position of the first set bit divided by four is the position of the byte.
    const unsigned long long mask =
        vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
    if (mask != 0) return at + std::countr_zero(mask) / 4;
  }
#elif defined(__x86_64__)
  for (; end - at >= 16; at += 16) {
    __m128i bytes;
    std::memcpy(&bytes, at, 16);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i special = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))), control);
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#endif
  while (at < end && isPlain(*at)) ++at;
  return at;
}

struct Skipped {
  const char* at;           ///< After the part, or where the error is.
  std::string_view reason;  ///< What is wrong; empty when nothing is.
};

inline Skipped skipDigits(const char* at, const char* end) {
  const char* begin = at;
  while (at < end && isDigit(*at)) ++at;
  return {at, at > begin ? "" : "a digit is expected"};
}

/// Skips a number of any length.
inline Skipped skipNumber(const char* at, const char* end) {
  if (at < end && *at == '-') ++at;
  if (at >= end || !isDigit(*at)) return {at, "a value is expected"};
  Skipped part = *at == '0' ? Skipped{at + 1, ""} : skipDigits(at, end);
  if (part.at < end && *part.at == '.') part = skipDigits(part.at + 1, end);
  if (!part.reason.empty() || part.at >= end || (*part.at != 'e' && *part.at != 'E')) return part;
  at = part.at + 1;
  if (at < end && (*at == '+' || *at == '-')) ++at;
  return skipDigits(at, end);
}

}  // namespace bough::json
