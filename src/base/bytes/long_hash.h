// A hash of a long text, at close to memory speed. Used in memory only: files contain CRC-32C or SHA-256.
#pragma once

#include <cstdint>
#include <string_view>

namespace bough {

std::uint64_t hashOfLong(std::string_view text);

}  // namespace bough
