// Operations on all counts of a Usage.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "bough/message.h"

namespace bough {

inline constexpr std::array<std::uint64_t Usage::*, 6> kUsageCounts = {
    &Usage::inputTokens,      &Usage::outputTokens,    &Usage::cacheReadTokens,
    &Usage::cacheWriteTokens, &Usage::reasoningTokens, &Usage::cacheWriteHourTokens};

/// Returns true when all counts are zero, which means that the usage is unknown: every answer takes some tokens.
inline bool isUsageUnknown(const Usage& usage) {
  return std::ranges::all_of(kUsageCounts, [&](const auto count) { return usage.*count == 0; });
}

/// Keeps the greatest value of each count. An answer written block by block repeats its usage with each block, and the
/// counts are lower while the answer is still being written.
inline void raiseTo(Usage& greatest, const Usage& other) {
  for (const auto count : kUsageCounts) greatest.*count = std::max(greatest.*count, other.*count);
}

/// Returns by how much each count of `all` exceeds that of `part`.
inline Usage excessOver(const Usage& all, const Usage& part) {
  Usage more;
  for (const auto count : kUsageCounts) more.*count = all.*count - std::min(all.*count, part.*count);
  return more;
}

}  // namespace bough
