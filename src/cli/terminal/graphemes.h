// Graphemes: what a person sees as one character may be several code points. Words, for the keys that move and delete
// by words, consist of whole graphemes: letters, digits, and the characters of file names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::cli {

/// Returns the last grapheme; empty when the text is empty.
std::string_view lastGrapheme(std::string_view utf8);

/// Returns the longest end that takes at most `columns` columns.
std::string_view endToWidth(std::string_view utf8, std::size_t columns);

/// Erases the last grapheme, like Backspace.
void eraseLastGrapheme(std::string& utf8);

/// Returns the byte offset where the last word begins; 0 when the text has no word.
std::size_t lastWordBegin(std::string_view utf8);
/// Returns the byte offset where the first word ends; the size of the text when it has no word.
std::size_t firstWordEnd(std::string_view utf8);

/// Erases the last word and the text after it, like Alt-Backspace and Ctrl-W.
void eraseLastWord(std::string& utf8);

}  // namespace bough::cli
