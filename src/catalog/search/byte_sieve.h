// Passes over bytes in which nothing of interest begins, as many at a time as the processor takes: 16, 32 with AVX2, 64
// with AVX-512.
//
// Of interest are: an escape (\u), an attachment ($a), the three rarest bytes of an anchor at their places, and, where
// words are looked for, letters that may stand for others. Every byte of every file goes through this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bough::catalog {

/// Which bytes of what is not ASCII are of interest.
enum class LetterBytes : std::uint8_t {
  None,
  Folding,  ///< The first bytes of characters that mayFold.
  All,
};

/// Whether a character that begins with this byte may count as one of ASCII or as a Chinese one, or be a mark. Greek
/// and Cyrillic letters (U+0380 to U+047F) do not; from U+4000 to U+9FFF no character is a form of another.
constexpr bool mayFold(unsigned char first) {
  return first >= 0xC2 && (first < 0xCE || first > 0xD1) && (first < 0xE4 || first > 0xE9);
}

/// How many bytes are looked at at a time.
enum class SieveWidth : std::uint8_t { Sixteen, ThirtyTwo, SixtyFour };
/// The widest that the processor has.
SieveWidth widestSieve();

/// Any thread.
class ByteSieve {
 public:
  /// `caseBit`: what is set in both before bytes of anchors are compared.
  ByteSieve(unsigned char caseBit, LetterBytes letters, SieveWidth width = widestSieve())
      : caseBit_(caseBit), letters_(letters), width_(width) {}
  void addAnchor(std::string_view anchor);

  /// How many bytes after `end` find() may look at.
  [[nodiscard]] std::size_t reach() const { return kStep + longest_ + 1; }
  /// The next place of interest at or after `at`; `end` or a place after it, within reach, when there is none before.
  [[nodiscard]] std::size_t find(const char* bytes, std::size_t at, std::size_t end) const;

 private:
  static constexpr std::size_t kStep = 64;
  struct Byte {
    std::size_t place = 0;
    unsigned char value = 0;  // with caseBit
  };
  using Bytes = std::array<Byte, 3>;

  // For `kCount` anchors, whose bytes stay in registers; 0: for as many as there are, which only find16 does.
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
