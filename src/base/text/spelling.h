// The distance between two words, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace bough::text {

/// Returns how many letters must be changed, added, removed or swapped with their neighbour to turn `from` into `to`.
std::size_t typingErrors(std::string_view from, std::string_view to);

}  // namespace bough::text
