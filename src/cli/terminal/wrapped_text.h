// Breaks lines between words, where a terminal would break them anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::cli {

/// Returns the text without escape sequences (ESC [ … letter).
std::string withoutEscapes(std::string_view text);

/// Returns the columns that a text takes on a terminal. Escape sequences (ESC [ … letter) take none.
std::size_t shownWidth(std::string_view text);

/// Breaks each line into lines of at most `columns`. Continuation lines are indented by `hang`; if that is 0, like the
/// line itself, or like the text after a mark such as "→ ". A word that is longer than a line stays whole, so that it
/// can be copied. Escape sequences take no columns.
std::string wrappedText(std::string_view given, std::size_t columns, std::size_t hang = 0);

/// Prints a line, wrapped when stdout is a terminal.
void printWrapped(std::string_view line, std::size_t hang = 0);

}  // namespace bough::cli
