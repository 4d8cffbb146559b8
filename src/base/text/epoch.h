// System times as numbers since 1970, safe for any value of the clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace bough {

/// The last millisecond of the year 9999. RFC 3339 has no form for later times.
inline constexpr std::uint64_t kLastEpochMs = 253'402'300'799'999;

/// Returns milliseconds. A time before 1970 becomes 0, and one after 9999 becomes kLastEpochMs.
inline std::uint64_t epochMsOf(const timespec& time) {
  constexpr std::uint64_t kSecond = 1000;
  constexpr std::int64_t kMillisecond = 1'000'000;
  if (time.tv_sec < 0) return 0;
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
  if (seconds > kLastEpochMs / kSecond) return kLastEpochMs;
  return seconds * kSecond + static_cast<std::uint64_t>(time.tv_nsec / kMillisecond);
}

/// Returns nanoseconds, limited to what 64 bits can hold: the year 2554.
inline std::uint64_t epochNsOf(const timespec& time) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr std::uint64_t kLastSeconds = UINT64_MAX / kSecond - 1;
  if (time.tv_sec < 0) return 0;
  return std::min(static_cast<std::uint64_t>(time.tv_sec), kLastSeconds) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace bough
