// Times as entries write them: RFC 3339.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bough {

/// "2026-11-14T23:47:00.862Z"
std::string formatTimestamp(std::uint64_t epochMs);
/// The same into a string that may have room for it.
void formatTimestamp(std::uint64_t epochMs, std::string& text);

/// Reads an RFC 3339 time with any offset and any number of fraction digits; none when it is no such time.
std::optional<std::uint64_t> parseTimestamp(std::string_view text);

}  // namespace bough
