// Times as people type and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// "90d", "12h", "30m", "2w" in milliseconds. InvalidArgument when it is none of these.
Result<std::uint64_t> parseAge(std::string_view text);

/// Whose days and times are meant where no zone is written.
enum class Zone : std::uint8_t { Local, Utc };

/// The beginning of a day (2026-11-14, 20261114, today, yesterday) or of a month (2026-11), a time (2026-11-14 23:47,
/// or RFC 3339 with a zone), or an age: so long ago.
Result<std::uint64_t> parseWhen(std::string_view text, std::uint64_t nowMs, Zone zone = Zone::Local);
/// The same, but the end of a day or a month: "until 2026-11-14" holds that day.
Result<std::uint64_t> parseUntil(std::string_view text, std::uint64_t nowMs, Zone zone = Zone::Local);

/// "now", "5m ago", "3h ago", "2d ago", and beyond a week the date, local time.
std::string formatAge(std::uint64_t whenMs, std::uint64_t nowMs);

/// A stored timestamp as local time, "2026-11-14 23:47"; as it is stored when it cannot be read.
std::string formatLocalTime(std::string_view timestamp);

/// "45s", "12m", "3.5h", "2.1d".
std::string formatDuration(std::uint64_t ms);

std::uint64_t nowMs();

}  // namespace bough::cli
