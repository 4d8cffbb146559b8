// Lines without what their long texts say, for whoever only counts and lists: everything after that passes fewer bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Copies an object whose grammar was checked to `out`, with another text for each string inside its members that is
/// longer than `longest`: the same for equal strings, and different ones for others. Strings that are members of the
/// object itself stay.
void shortenTexts(std::string_view object, std::size_t longest, std::string& out);

}  // namespace bough::transcript
