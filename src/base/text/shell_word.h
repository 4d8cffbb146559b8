// Quotes text as one word of a shell command line.
#pragma once

#include <string>
#include <string_view>

namespace bough {

/// Returns one word for a POSIX shell. Bytes that a terminal would not display as they are (control characters, invalid
/// UTF-8) are written as `$'\033'`, so that the word can be printed.
std::string shellWord(std::string_view text);

}  // namespace bough
