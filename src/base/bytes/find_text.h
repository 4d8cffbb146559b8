// Looks for a short text in a long one, at the speed of the memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough {

/// A text to look for. Two of its bytes are compared at every place, the others where both are right: the rarer these
/// two are, the better.
struct WantedText {
  std::string_view text;
  std::size_t first = 0;  ///< Places of these two in `text`.
  std::size_t second = 0;
};

/// The first place at or after `from`; npos when there is none.
std::size_t findText(std::string_view text, const WantedText& wanted, std::size_t from);

}  // namespace bough
