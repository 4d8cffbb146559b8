// Times in the form that entries use: RFC 3339.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bough {

/// Returns a time such as "2026-11-14T23:47:00.862Z".
std::string formatTimestamp(std::uint64_t epochMs);
/// The same, into an existing string whose memory can be reused.
void formatTimestamp(std::uint64_t epochMs, std::string& text);

/// Parses an RFC 3339 time with any offset and any number of fraction digits. Returns std::nullopt for other text.
std::optional<std::uint64_t> parseTimestamp(std::string_view text);

}  // namespace bough
