#include "base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes/byte_block.h"

namespace bough {
namespace {

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

// Where characters begin and go on within a block, except leads that limit what may follow them, and those of four
// bytes: text with these is looked at character by character.
class Characters {
 public:
  explicit Characters(const ByteBlock& block)
      : ascii_(where(block, '\x00', '\x7F')),
        more_(where(block, '\x80', '\xBF')),
        twos_(where(block, '\xC2', '\xDF')),
        threes_(where(block, '\xE1', '\xEC') | where(block, '\xEE', '\xEF')) {}

  // Whether everything here is whole, given that the first bytes owe something to the block before.
  [[nodiscard]] bool areWhole(std::uint64_t owed) const {
    return more_ == ((twos_ | threes_) << 1 | threes_ << 2 | owed) && (ascii_ | more_ | twos_ | threes_) == ~kNone;
  }
  // What the next block must begin with.
  [[nodiscard]] std::uint64_t owed() const { return (twos_ | threes_) >> 63 | threes_ >> 62; }

 private:
  static constexpr std::uint64_t kNone = 0;
  static std::uint64_t where(const ByteBlock& block, char first, char last) {
    return bits(inRange(block.a, first, last), inRange(block.b, first, last), inRange(block.c, first, last),
                inRange(block.d, first, last));
  }

  std::uint64_t ascii_;
  std::uint64_t more_;
  std::uint64_t twos_;
  std::uint64_t threes_;
};

bool isAscii(const ByteBlock& block) {
  return !any(inRange(either(either(block.a, block.b), either(block.c, block.d)), '\x80', '\xFF'));
}

// The beginning of the character that goes on at `at`.
const char* leadBefore(const char* at) {
  do --at;
  while ((*at & 0xC0) == 0x80);
  return at;
}

// Skips characters until one begins at `stop` or after it; null when one is none.
const char* skipCharacters(const char* at, const char* stop, const char* end) {
  while (at < stop) {
    const std::size_t bytes = static_cast<unsigned char>(*at) < 0x80 ? 1 : characterBytes(at, end);
    if (bytes == 0) return nullptr;
    at += bytes;
  }
  return at;
}

}  // namespace

bool isUtf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t owed = 0;  // bytes at the beginning of the next block that must continue a character
  std::array<char, ByteBlock::kSize> padded;
  while (at < end) {
    const std::size_t size = std::min(static_cast<std::size_t>(end - at), ByteBlock::kSize);
    if (size < ByteBlock::kSize) {
      // What is before the rest has been looked at.
      if (owed == 0 && text.size() >= ByteBlock::kSize && isAscii(ByteBlock(end - ByteBlock::kSize))) return true;
      padded.fill('\0');
      std::memcpy(padded.data(), at, size);
    }
    const ByteBlock block(size < ByteBlock::kSize ? padded.data() : at);
    if (owed != 0 || !isAscii(block)) {
      const Characters found(block);
      if (!found.areWhole(owed)) {
        at = skipCharacters(owed == 0 ? at : leadBefore(at), at + size, end);
        if (at == nullptr) return false;
        owed = 0;
        continue;
      }
      owed = found.owed();
    }
    at += size;
  }
  return owed == 0;
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
