// Which kinds of characters 64 bytes are made of, as one bit a byte: words, gaps and what follows what are then found
// for all of them at once. Which byte follows in a text cannot be foreseen, so a branch for each would cost more.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes/byte_block.h"

namespace bough::context {

constexpr std::uint64_t lowBits(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

inline std::size_t firstBit(std::uint64_t bits) {
  return static_cast<std::size_t>(std::countr_zero(bits));
}

inline std::uint64_t countBits(std::uint64_t bits) {
  return static_cast<std::uint64_t>(std::popcount(bits));
}

/// The first byte is the lowest bit.
struct KindBits {
  explicit KindBits(const ByteBlock& block) {
    const auto in = [&](char first, char last) {
      return bits(inRange(block.a, first, last), inRange(block.b, first, last), inRange(block.c, first, last),
                  inRange(block.d, first, last));
    };
    lower = in('a', 'z');
    upper = in('A', 'Z');
    digit = in('0', '9');
    newline = block.where('\n') | block.where('\r');
    space = in('\0', ' ') & ~newline;
    wide = in('\x80', '\xFF');
    punctuation = ~(words() | newline | space | wide);
    backslash = block.where('\\');
  }

  /// Of a text of at most 64 bytes, or of the first 64 of a longer one.
  static KindBits of(std::string_view text) {
    if (text.size() >= ByteBlock::kSize) return KindBits(ByteBlock(text.data()));
    std::array<char, ByteBlock::kSize> padded{};
    std::memcpy(padded.data(), text.data(), text.size());
    KindBits kinds{ByteBlock(padded.data())};
    kinds.keep(lowBits(text.size()));
    return kinds;
  }

  void keep(std::uint64_t kept) {
    lower &= kept;
    upper &= kept;
    digit &= kept;
    newline &= kept;
    space &= kept;
    wide &= kept;
    punctuation &= kept;
    backslash &= kept;
  }
  [[nodiscard]] std::uint64_t words() const { return lower | upper | digit; }
  /// Where a word goes on with digits after letters, or with letters after digits.
  [[nodiscard]] std::uint64_t digitSwitches() const {
    const std::uint64_t letters = lower | upper;
    return (digit & (letters << 1)) | (letters & (digit << 1));
  }
  /// Those, and where it goes on in the other case; a capital may begin small letters.
  [[nodiscard]] std::uint64_t switches() const {
    return digitSwitches() | (upper & (lower << 1)) | (lower & (upper << 1) & (upper << 2));
  }

  std::uint64_t lower;
  std::uint64_t upper;
  std::uint64_t digit;
  std::uint64_t newline;
  std::uint64_t space;  ///< And control characters.
  std::uint64_t wide;   ///< Bytes of characters beyond ASCII.
  std::uint64_t punctuation;
  std::uint64_t backslash;  ///< Punctuation, too.
};

}  // namespace bough::context
