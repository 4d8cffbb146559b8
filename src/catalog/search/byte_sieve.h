// Skips bytes where nothing of interest begins, as many at once as the processor can: 16, 32 with AVX2, 64 with
// AVX-512.
//
// An anchor is a fixed text that is searched for; see line_filter.h. Of interest are an escape (\u), an attachment
// ($a), the three rarest bytes of an anchor at their positions, and, in a search for words, letters that may be equal
// to others. Every byte of every file passes through this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bough::catalog {

/// Which non-ASCII bytes are of interest.
enum class LetterBytes : std::uint8_t {
  None,
  Folding,  ///< The first bytes of characters for which mayFold is true.
  All,
};

/// Returns true when a character with this first byte may be equal to an ASCII or Chinese character, or be a mark. That
/// is not so for Greek and Cyrillic letters (U+0380 to U+047F). From U+4000 to U+9FFF, no character is a variant of
/// another.
constexpr bool mayFold(unsigned char first) {
  return first >= 0xC2 && (first < 0xCE || first > 0xD1) && (first < 0xE4 || first > 0xE9);
}

/// How many bytes are examined at once.
enum class SieveWidth : std::uint8_t { Sixteen, ThirtyTwo, SixtyFour };
/// Returns the widest that the processor supports.
SieveWidth widestSieve();

/// Thread-safe.
class ByteSieve {
 public:
  /// `caseBit` is set in both bytes before bytes of anchors are compared.
  ByteSieve(unsigned char caseBit, LetterBytes letters, SieveWidth width = widestSieve())
      : caseBit_(caseBit), letters_(letters), width_(width) {}
  void addAnchor(std::string_view anchor);

  /// Returns how many bytes after `end` find() may read.
  [[nodiscard]] std::size_t reach() const { return kStep + longest_ + 1; }
  /// Returns the next position of interest at or after `at`. When there is none before `end`, returns `end` or a
  /// position after it that is within reach().
  [[nodiscard]] std::size_t find(const char* bytes, std::size_t at, std::size_t end) const;

 private:
  static constexpr std::size_t kStep = 64;
  struct Byte {
    std::size_t place = 0;
    unsigned char value = 0;  // including caseBit
  };
  using Bytes = std::array<Byte, 3>;

  // For `kCount` anchors, whose bytes stay in registers. 0 means any number of anchors; only find16 supports that.
  template <LetterBytes kLetters, bool kCase, std::size_t kCount>
  [[nodiscard]] std::size_t find16(const char* bytes, std::size_t at, std::size_t end) const;
  template <LetterBytes kLetters, bool kCase, std::size_t kCount>
  [[nodiscard]] std::size_t find32(const char* bytes, std::size_t at, std::size_t end) const;
  template <LetterBytes kLetters, bool kCase, std::size_t kCount>
  [[nodiscard]] std::size_t find64(const char* bytes, std::size_t at, std::size_t end) const;
  template <LetterBytes kLetters, bool kCase, std::size_t kCount>
  [[nodiscard]] std::size_t findByWidth(const char* bytes, std::size_t at, std::size_t end) const;
  template <LetterBytes kLetters, bool kCase>
  [[nodiscard]] std::size_t findByCount(const char* bytes, std::size_t at, std::size_t end) const;

  std::vector<Bytes> anchors_;
  unsigned char caseBit_;
  LetterBytes letters_;
  SieveWidth width_;
  std::size_t longest_ = 0;
};

}  // namespace bough::catalog
