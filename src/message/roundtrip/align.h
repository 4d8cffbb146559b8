// Finds what two versions of a list have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bough::message {

inline constexpr std::size_t kUnmatched = static_cast<std::size_t>(-1);

/// Returns for each element of `now` the index of an equal element in `before`, or kUnmatched. Matches keep the order
/// of both lists.
std::vector<std::size_t> align(std::span<const std::uint64_t> before, std::span<const std::uint64_t> now);

}  // namespace bough::message
