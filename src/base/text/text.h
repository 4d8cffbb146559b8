// Text for people: graphemes, display width, where text may be cut, and which characters must not reach a terminal. The
// tables of graphemes and widths come from utf8proc.
//
// A grapheme is what a person sees as one character: 👩‍👩‍👧, 🇩🇪 or é written with a combining mark are one
// each. Bytes that are not UTF-8 count as one U+FFFD each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::text {

/// Returns the number of columns that a terminal uses for `utf8`. Chinese characters and emoji take two. Control
/// characters count as zero, so pass the result of printable().
std::size_t displayWidth(std::string_view utf8);

/// Returns the largest number of columns that any terminal uses: some (tmux 3.3) show the parts of a joined emoji
/// separately.
std::size_t widestDisplay(std::string_view utf8);

/// Returns the text without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// Returns the longest prefix with at most `count` graphemes.
std::string_view cutToGraphemes(std::string_view utf8, std::size_t count);

/// Returns the longest prefix of whole graphemes that fits into `columns`.
std::string_view cutToWidth(std::string_view utf8, std::size_t columns);

/// Makes untrusted text safe for one line on a terminal: line ends and tabs become blanks, other control characters and
/// escape sequences become visible symbols, and invalid UTF-8, C1 controls and characters that reverse the writing
/// direction become U+FFFD.
std::string printable(std::string_view utf8);

/// The same, but keeps line ends and tabs.
std::string printableLines(std::string_view utf8);

/// Replaces tabs by blanks, up to the next multiple of four columns of the line. The text then takes the counted number
/// of columns wherever it is placed on the terminal.
std::string withoutTabs(std::string_view utf8);

/// Returns one printable line of at most `graphemes` graphemes, with single blanks between words and none at the ends.
/// When text was left out, the last grapheme is `…`. Reads only as much of `utf8` as it needs.
std::string excerpt(std::string_view utf8, std::size_t graphemes);

/// The same, limited to `columns` on any terminal (widestDisplay).
std::string excerptToWidth(std::string_view utf8, std::size_t columns);

}  // namespace bough::text
