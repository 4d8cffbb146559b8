// A set of bytes, and a search for the first byte of a text that is in the set.
//
// Used instead of std::string_view::find_first_of, which calls a function for each byte of the text.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace bough {

class ByteSet {
 public:
  explicit constexpr ByteSet(std::string_view bytes) {
    for (const char c : bytes) has_[static_cast<unsigned char>(c)] = true;
  }

  [[nodiscard]] constexpr bool contains(char c) const { return has_[static_cast<unsigned char>(c)]; }

  /// Returns the first position at or after `begin` whose byte is in the set; npos when there is none.
  [[nodiscard]] constexpr std::size_t findIn(std::string_view text, std::size_t begin = 0) const {
    for (std::size_t at = begin; at < text.size(); ++at) {
      if (contains(text[at])) return at;
    }
    return std::string_view::npos;
  }

 private:
  std::array<bool, 256> has_{};
};

}  // namespace bough
