#include "base/utf8.h"

#include <cstddef>

#include "base/byte_block.h"

namespace bough {
namespace {

// Skips bytes below 0x80: most of what is stored.
const char* skipAscii(const char* at, const char* end) {
  for (; end - at >= static_cast<std::ptrdiff_t>(ByteBlock::kSize); at += ByteBlock::kSize) {
    const ByteBlock block(at);
    if (any(inRange(either(either(block.a, block.b), either(block.c, block.d)), '\x80', '\xFF'))) break;
  }
  while (at < end && static_cast<unsigned char>(*at) < 0x80) ++at;
  return at;
}

// Skips characters of three bytes, which Chinese and Japanese text is made of, but for those whose second byte is
// limited.
const char* skipThrees(const char* at, const char* end) {
  for (; end - at >= 3; at += 3) {
    const auto lead = static_cast<unsigned char>(at[0]);
    const bool usual = lead > 0xE0 && lead < 0xF0 && lead != 0xED;
    if (!usual || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80) break;
  }
  return at;
}

// How many bytes the character at `at` has; 0 when it is none.
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

}  // namespace

bool isUtf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    at = skipThrees(skipAscii(at, end), end);
    if (at == end) return true;
    if (static_cast<unsigned char>(*at) < 0x80) continue;
    const std::size_t bytes = characterBytes(at, end);
    if (bytes == 0) return false;
    at += bytes;
  }
}

}  // namespace bough
