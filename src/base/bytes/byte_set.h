// A set of bytes, and where the first of them is in a text.
//
// std::string_view::find_first_of calls a function for each byte of the text.
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

  /// The first place, from `begin` on, that has one of them; npos when there is none.
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
