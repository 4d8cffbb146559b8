// Markdown within one line: emphasis, code, links, entities. What is not understood is text, with every character it
// has, and so are marks that programs and mathematics use: a*b*c, __init__, src/**/*.cpp, $x_1*y_1$.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::text {

/// Bits of Span::style. Who shows text may have others, from the first free one on.
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
  std::string target = {};  ///< Of a link; all spans of one link have it.
  std::string title = {};   ///< Of a link that has one.
};

std::vector<Span> parseInline(std::string_view text);
/// The bytes of an unfinished line whose meaning cannot change when the line goes on: everything before a mark that may
/// still find its partner.
std::size_t settledInline(std::string_view text);

/// The line that a block of code begins with: ```cpp, ~~~, or $$ and \[ before lines of mathematics.
struct MarkdownFence {
  std::string mark = "`";
  std::size_t size = 3;  ///< How many of the mark at least close the block.
  std::string language = {};

  [[nodiscard]] bool isClosedBy(std::string_view line) const;
};
std::optional<MarkdownFence> openedFence(std::string_view line);

/// The words of a text for a place that has one line for it: without the marks of headings, rules, code, emphasis and
/// links. Looks at no more than `mostBytes` of it. A text of nothing but marks is returned as it is.
std::string plainWords(std::string_view markdown, std::size_t mostBytes);

}  // namespace bough::text
