// What changed between two texts, line by line, for people and models to read.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// The lines between the common beginning and the common end, as "-old" and "+new", with a few lines around them.
/// Long changes are cut. Empty when nothing changed.
std::string lineDiff(std::string_view before, std::string_view after);

}  // namespace bough::agent
