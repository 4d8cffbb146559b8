// Removes the content of long texts from lines, for callers that only count and list, so that later steps process fewer
// bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Copies an object with valid grammar to `out`, and replaces each string inside its members that is longer than
/// `longest`. Equal strings get equal replacements, different strings get different ones. Strings that are direct
/// members of the object stay.
void shortenTexts(std::string_view object, std::size_t longest, std::string& out);

}  // namespace bough::transcript
