// Searches for a short text in a long one, at close to memory speed.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough {

/// A text to search for. The search compares two of its bytes at every position, and the rest only where both match, so
/// these two should be rare bytes.
struct WantedText {
  std::string_view text;
  std::size_t first = 0;  ///< Positions in `text` of the two bytes.
  std::size_t second = 0;
};

/// Returns the first match at or after `from`; npos when there is none.
std::size_t findText(std::string_view text, const WantedText& wanted, std::size_t from);

}  // namespace bough
