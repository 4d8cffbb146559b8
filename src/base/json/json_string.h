// Finds where a JSON string ends, 64 bytes at a time, and checks what is in it on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes/byte_block.h"
#include "base/json/json_grammar.h"

namespace bough::json {

/// Of 64 bytes, one bit each: those that follow a backslash which is not escaped itself. `firstIsEscaped`: an odd
/// number of backslashes is before the first byte.
inline std::uint64_t escapedBytes(std::uint64_t backslashes, bool firstIsEscaped) {
  // A run of backslashes escapes every second byte: adding to the run's first bit carries to its end, and whether that
  // is an odd or an even place tells.
  constexpr std::uint64_t kOdd = 0xAAAAAAAAAAAAAAAA;
  const std::uint64_t before = firstIsEscaped ? 1 : 0;
  const std::uint64_t escapes = backslashes & ~before;
  const std::uint64_t ends = (((escapes << 1) | kOdd) - escapes) ^ kOdd;
  return ends ^ (backslashes | before);
}

inline Bytes controlBytes(Bytes x) {
  return inRange(x, '\0', '\x1F');
}

/// Bytes that do not stand for themselves inside a string: quotes, backslashes, control characters.
inline Bytes specialBytes(Bytes x) {
  return either(either(equal(x, fillBytes('"')), equal(x, fillBytes('\\'))), controlBytes(x));
}

struct SkippedString {
  const char* at;                ///< Behind the closing quote, or where it is wrong.
  std::string_view reason = {};  ///< What is wrong; empty when nothing is.
  bool escapes = false;
  bool oddEscapes = false;  ///< Ones that are not the shortest way to write what they stand for, or may not be.
  bool surrogates = false;  ///< `\ud…`: halves of a character, with the other half or without.
};

/// Whether `\u` is in a JSON text, escaped or not: without one it holds no surrogates.
bool mayHoldSurrogates(std::string_view json);

/// The end of a string that is short and plain, as most keys, roles and names are; null of any other. `at` is after
/// the opening quote.
inline const char* shortStringEnd(const char* at, const char* end) {
  constexpr std::ptrdiff_t kLongest = 48;
  if (end - at < kLongest) return nullptr;
  const char* const stop = skipPlain(at, at + kLongest);
  return stop != at + kLongest && *stop == '"' ? stop + 1 : nullptr;
}

/// `at` is after the opening quote. UTF-8 is not checked.
SkippedString skipString(const char* at, const char* end);

}  // namespace bough::json
