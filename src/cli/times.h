// Times as people say them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::cli {

/// How long ago an RFC 3339 time was: "now", "5 min", "3 h", "12 days", "2026-01-31"; "-" when it is no such time.
std::string formatAge(std::string_view timestamp);
std::string formatAge(std::uint64_t thenMs, std::uint64_t nowMs);

/// "0.5 s", "12 s", "3:05", "2:03:05".
std::string formatDuration(std::uint64_t ms);

}  // namespace bough::cli
