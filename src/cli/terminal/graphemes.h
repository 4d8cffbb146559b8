// What a person sees as one character may be several code points. Words, as the keys that move and delete by words take
// them, are made of whole ones: letters, digits, and the signs in names of files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::cli {

/// The last one of a text; empty when the text is.
std::string_view lastGrapheme(std::string_view utf8);

/// As Backspace does.
void eraseLastGrapheme(std::string& utf8);

/// Where the last word of a text begins, in bytes; 0 when it has none.
std::size_t lastWordBegin(std::string_view utf8);
/// Where the first word of a text ends; its size when it has none.
std::size_t firstWordEnd(std::string_view utf8);

/// As Alt-Backspace and Ctrl-W do: the last word and what follows it.
void eraseLastWord(std::string& utf8);

}  // namespace bough::cli
