// A hash of a long text, at nearly the speed of the memory. It is kept in memory alone: files have CRC-32C or SHA-256.
#pragma once

#include <cstdint>
#include <string_view>

namespace bough {

std::uint64_t hashOfLong(std::string_view text);

}  // namespace bough
