// Finds what is still the same in two versions of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bough::message {

inline constexpr std::size_t kUnmatched = static_cast<std::size_t>(-1);

/// For each of `now`, the index of its equal in `before`, or kUnmatched. Matches keep the order of both lists.
std::vector<std::size_t> align(std::span<const std::uint64_t> before, std::span<const std::uint64_t> now);

}  // namespace bough::message
