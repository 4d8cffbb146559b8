#include "base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes/avx2_block.h"

namespace bough {
namespace {

// Returns the number of bytes of the character at `at`; 0 when it is invalid.
std::size_t characterBytes(const char* at, const char* end) {
  const auto lead = static_cast<unsigned char>(at[0]);
  const std::size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || static_cast<std::size_t>(end - at) < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(at[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : bytes;
}

// Returns the start of the character that continues at `at`.
const char* leadBefore(const char* at) {
  do --at;
  while ((*at & 0xC0) == 0x80);
  return at;
}

// Skips characters up to the first that begins at or after `stop`. Returns null when a character is invalid.
const char* skipCharacters(const char* at, const char* stop, const char* end) {
  while (at < stop) {
    const std::size_t bytes = static_cast<unsigned char>(*at) < 0x80 ? 1 : characterBytes(at, end);
    if (bytes == 0) return nullptr;
    at += bytes;
  }
  return at;
}

#define BOUGH_LOOPS "base/text/utf8_loops.h"
#include "base/bytes/compile_loops.h"

}  // namespace

bool isUtf8(std::string_view text) {
  return BOUGH_CHOOSE(isUtf8(text));
}

std::size_t utf8PrefixBytes(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* const next = skipCharacters(at, at + 1, end);
    if (next == nullptr) break;
    at = next;
  }
  return static_cast<std::size_t>(at - text.data());
}

}  // namespace bough
