// How far apart two words are, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace bough::text {

/// How many letters to change, add, drop or swap with the next one to get from one word to the other.
std::size_t typingErrors(std::string_view from, std::string_view to);

}  // namespace bough::text
