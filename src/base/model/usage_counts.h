// What is done with each count of a Usage.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "bough/message.h"

namespace bough {

inline constexpr std::array<std::uint64_t Usage::*, 6> kUsageCounts = {
    &Usage::inputTokens,      &Usage::outputTokens,    &Usage::cacheReadTokens,
    &Usage::cacheWriteTokens, &Usage::reasoningTokens, &Usage::cacheWriteHourTokens};

/// Whether nobody has said what an answer used: no answer takes no tokens.
inline bool saysNothing(const Usage& usage) {
  return std::ranges::all_of(kUsageCounts, [&](const auto count) { return usage.*count == 0; });
}

/// The greatest of each count: an answer that was written block by block repeats its usage with each, and one that is
/// still being written says less.
inline void takeGreatest(Usage& most, const Usage& other) {
  for (const auto count : kUsageCounts) most.*count = std::max(most.*count, other.*count);
}

/// How much more each count of `all` is than that of `part`.
inline Usage moreThan(const Usage& all, const Usage& part) {
  Usage more;
  for (const auto count : kUsageCounts) more.*count = all.*count - std::min(all.*count, part.*count);
  return more;
}

}  // namespace bough
