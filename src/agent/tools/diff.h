// Shows what changed between two texts, line by line, for people and models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::agent {

struct DiffLimits {
  std::size_t lines = 40;  ///< The limit for removed lines, for added lines, and for lines around them.
  std::size_t lineBytes = 4'000;
};
inline constexpr DiffLimits kWholeDiff{.lines = SIZE_MAX / 2, .lineBytes = SIZE_MAX};

/// Returns the lines between the common beginning and the common end, as "-old" and "+new", with a few lines around
/// them. Cuts long changes at the limits. Empty when nothing changed.
std::string lineDiff(std::string_view before, std::string_view after, DiffLimits limits = {});

}  // namespace bough::agent
