// A count and its noun, for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bough {

/// Returns "1 entry has" or "2 entries have", from the words for one and for several.
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Returns "1 entry", "2 entries", "1 session", "0 sessions".
inline std::string counted(std::uint64_t count, std::string_view noun) {
  const bool endsInY =
      noun.ends_with('y') && noun.size() > 1 && !std::string_view("aeiou").contains(noun[noun.size() - 2]);
  if (endsInY) return counted(count, noun, fmt::format("{}ies", noun.substr(0, noun.size() - 1)));
  return counted(count, noun, fmt::format("{}s", noun));
}

}  // namespace bough
