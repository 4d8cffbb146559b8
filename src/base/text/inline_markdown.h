// Markdown within one line: emphasis, code, links, entities. Everything else is text and keeps every character,
// including marks as programs and mathematics use them: a*b*c, __init__, src/**/*.cpp, $x_1*y_1$.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::text {

/// Bits of Span::style. Code that displays text may define more styles, from kFreeStyle up.
inline constexpr unsigned kPlain = 0;
inline constexpr unsigned kBold = 1U << 0U;
inline constexpr unsigned kItalic = 1U << 1U;
inline constexpr unsigned kStrike = 1U << 2U;
inline constexpr unsigned kCodeSpan = 1U << 3U;
inline constexpr unsigned kLink = 1U << 4U;
inline constexpr unsigned kFreeStyle = 1U << 5U;

struct Span {
  std::string text;
  unsigned style = kPlain;
  std::string target = {};  ///< Of a link; all spans of one link have the same.
  std::string title = {};   ///< Of a link that has a title.
};

std::vector<Span> parseInline(std::string_view text);
/// Returns how many bytes of an unfinished line can no longer change their meaning when more text follows: everything
/// before the first mark that may still find its closing mark.
std::size_t stablePrefixBytes(std::string_view text);

/// The line that opens a block: ```cpp, ~~~, or $$ and \[ for lines of mathematics.
struct MarkdownFence {
  std::string mark = "`";
  std::size_t size = 3;  ///< The block is closed by at least this many marks.
  std::string language = {};

  [[nodiscard]] bool isClosedBy(std::string_view line) const;
};
std::optional<MarkdownFence> openedFence(std::string_view line);

/// Returns the words of a text for a place that has only one line: without the marks of headings, rules, code, emphasis
/// and links. Reads at most `maxBytes` of the text. A text that consists only of marks is returned unchanged.
std::string plainWords(std::string_view markdown, std::size_t maxBytes);

}  // namespace bough::text
