// What changed between two texts, line by line, for people and models to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::agent {

struct DiffLimits {
  std::size_t lines = 40;  ///< Of those that went, of those that came, and around.
  std::size_t lineBytes = 4'000;
};
inline constexpr DiffLimits kWholeDiff{.lines = SIZE_MAX / 2, .lineBytes = SIZE_MAX};

/// The lines between the common beginning and the common end, as "-old" and "+new", with a few lines around them.
/// Long changes are cut where there are limits. Empty when nothing changed.
std::string lineDiff(std::string_view before, std::string_view after, DiffLimits limits = {});

}  // namespace bough::agent
