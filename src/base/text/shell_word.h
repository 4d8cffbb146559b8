// Text as one word of a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace bough {

/// A word for a POSIX shell. What a terminal would not show as it is (control characters, bytes that are not UTF-8)
/// is written as `$'\033'`, so that the word can be printed.
std::string shellWord(std::string_view text);

}  // namespace bough
