// Text for people: what a terminal shows as one character, how wide it is, where it may be cut, and what must not reach
// a terminal at all. The tables of graphemes and widths are utf8proc's.
//
// A grapheme is what a person sees as one character: 👩‍👩‍👧, 🇩🇪 or é written with a
// combining mark are one each. Bytes that are not UTF-8 count as one U+FFFD each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bough::text {

/// The columns that a terminal gives to `utf8`; Chinese and emoji take two. Control characters count as none: give it
/// what printable() returned.
std::size_t displayWidth(std::string_view utf8);

/// The columns that a terminal gives at most: some (tmux 3.3) show the parts of a joined emoji apart.
std::size_t widestDisplay(std::string_view utf8);

/// Without the blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// The longest beginning that has at most `count` graphemes.
std::string_view cutToGraphemes(std::string_view utf8, std::size_t count);

/// The longest beginning of whole graphemes that fits into `columns`.
std::string_view cutToWidth(std::string_view utf8, std::size_t columns);

/// Text from outside made safe for a terminal, on one line: line ends and tabs become blanks, other control characters
/// and escape sequences are shown as pictures, invalid UTF-8, C1 controls and what turns the direction of writing
/// around becomes U+FFFD.
std::string printable(std::string_view utf8);

/// The same, but line ends and tabs stay.
std::string printableLines(std::string_view utf8);

/// Tabs become blanks, up to the next multiple of four columns of their line: only then a text takes the columns that
/// were counted for it, wherever on the terminal it is put.
std::string withoutTabs(std::string_view utf8);

/// One printable line with single blanks between words, none around them, of at most `graphemes` graphemes. When
/// something had to go, the last one is `…`. Looks at no more of `utf8` than it needs.
std::string excerpt(std::string_view utf8, std::size_t graphemes);

/// The same for a line of so many columns, in whatever terminal (widestDisplay).
std::string excerptToWidth(std::string_view utf8, std::size_t columns);

}  // namespace bough::text
