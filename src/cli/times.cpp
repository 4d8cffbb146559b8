#include "cli/times.h"

#include <fmt/format.h>

#include "base/environment.h"
#include "base/timestamp.h"

namespace bough::cli {

std::string formatAge(std::string_view timestamp) {
  const auto then = parseTimestamp(timestamp);
  return then ? formatAge(*then, systemEnvironment().clock.nowMs()) : "-";
}

std::string formatAge(std::uint64_t thenMs, std::uint64_t nowMs) {
  constexpr std::uint64_t kMinute = 60'000;
  constexpr std::uint64_t kHour = 60 * kMinute;
  constexpr std::uint64_t kDay = 24 * kHour;
  const std::uint64_t age = nowMs > thenMs ? nowMs - thenMs : 0;
  if (age < kMinute) return "now";
  if (age < kHour) return fmt::format("{} min", age / kMinute);
  if (age < kDay) return fmt::format("{} h", age / kHour);
  if (age < 2 * kDay) return "1 day";
  if (age < 60 * kDay) return fmt::format("{} days", age / kDay);
  return formatTimestamp(thenMs).substr(0, 10);
}

std::string formatDuration(std::uint64_t ms) {
  if (ms < 10'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const std::uint64_t seconds = ms / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace bough::cli
