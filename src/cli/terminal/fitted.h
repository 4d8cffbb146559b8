// Lines that are broken between words, where a terminal would break them anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::cli {

/// Without escape sequences (ESC [ … letter).
std::string withoutEscapes(std::string_view text);

/// The columns that a text takes on a terminal. Escape sequences (ESC [ … letter) take none.
std::size_t shownWidth(std::string_view text);

/// Each line on as many lines of `columns` as it needs. What follows the first is indented by `hang`; when that is 0,
/// as the line itself, and after a mark such as "→ " by as much more. A word that is longer than a line stays whole, so
/// that it can be copied. Escape sequences take no columns.
std::string fitted(std::string_view given, std::size_t columns, std::size_t hang = 0);

/// Prints a line, fitted when stdout is a terminal.
void printFitted(std::string_view line, std::size_t hang = 0);

}  // namespace bough::cli
