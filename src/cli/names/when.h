// Parses and formats times for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// Converts "90d", "12h", "30m" or "2w" to milliseconds. Fails with InvalidArgument for any other text.
Result<std::uint64_t> parseAge(std::string_view text);

/// The time zone of days and times without a written zone.
enum class Zone : std::uint8_t { Local, Utc };

/// Parses the beginning of a day (2026-11-14, 20261114, today, yesterday) or month (2026-11), a time (2026-11-14 23:47,
/// or RFC 3339 with a zone), or an age, counted back from now.
Result<std::uint64_t> parseWhen(std::string_view text, std::uint64_t nowMs, Zone zone = Zone::Local);
/// Does the same for the end of a range: "until 2026-11-14" includes that day, and a month ends with its last day.
Result<std::uint64_t> parseUntil(std::string_view text, std::uint64_t nowMs, Zone zone = Zone::Local);

/// Returns "now", "5m ago", "3h ago", "2d ago", and after a week the local date.
std::string formatAge(std::uint64_t whenMs, std::uint64_t nowMs);

/// Formats a stored timestamp as local time, "2026-11-14 23:47"; returns it unchanged when it cannot be parsed.
std::string formatLocalTime(std::string_view timestamp);

/// Returns "45s", "12m", "3.5h", "2.1d".
std::string formatDuration(std::uint64_t ms);

std::uint64_t nowMs();

}  // namespace bough::cli
