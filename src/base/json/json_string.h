// Finds the end of a JSON string, 64 bytes at a time, and checks its content on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes/byte_block.h"
#include "base/json/json_grammar.h"

namespace bough::json {

/// Returns one bit for each of 64 bytes: set where the byte follows a backslash that is not escaped itself.
/// `firstIsEscaped` says that an odd number of backslashes precedes the first byte.
inline std::uint64_t escapedBytes(std::uint64_t backslashes, bool firstIsEscaped) {
  // A run of backslashes escapes every second byte after its start. The subtraction carries from the first bit of a run
  // to the end of the run, and the parity of that position tells whether the byte after the run is escaped.
  constexpr std::uint64_t kOdd = 0xAAAAAAAAAAAAAAAA;
  const std::uint64_t before = firstIsEscaped ? 1 : 0;
  const std::uint64_t escapes = backslashes & ~before;
  const std::uint64_t ends = (((escapes << 1) | kOdd) - escapes) ^ kOdd;
  return ends ^ (backslashes | before);
}

inline Bytes controlBytes(Bytes x) {
  return inRange(x, '\0', '\x1F');
}

/// Marks bytes that do not represent themselves inside a string: quotes, backslashes, control characters.
inline Bytes specialBytes(Bytes x) {
  return either(either(equal(x, fillBytes('"')), equal(x, fillBytes('\\'))), controlBytes(x));
}

struct SkippedString {
  const char* at;                ///< After the closing quote, or where the error is.
  std::string_view reason = {};  ///< What is wrong; empty when nothing is.
  bool escapes = false;
  bool oddEscapes = false;  ///< Has escapes that are not, or may not be, the shortest way to write a character.
  bool surrogates = false;  ///< Has `\ud…`: half of a surrogate pair, with or without the other half.
};

/// Returns true when `\u` occurs in a JSON text, escaped or not. A text without it contains no surrogate escapes.
bool mayHoldSurrogates(std::string_view json);

/// Returns the end of a string that is short and plain, as most keys, roles and names are; null for any other string.
/// `at` is after the opening quote.
inline const char* shortStringEnd(const char* at, const char* end) {
  constexpr std::ptrdiff_t kLongest = 48;
  if (end - at < kLongest) return nullptr;
  const char* const stop = skipPlain(at, at + kLongest);
  return stop != at + kLongest && *stop == '"' ? stop + 1 : nullptr;
}

/// Skips the rest of a string; `at` is after the opening quote. UTF-8 is not checked.
SkippedString skipString(const char* at, const char* end);

}  // namespace bough::json
