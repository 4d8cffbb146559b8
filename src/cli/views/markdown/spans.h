// Text in styles, and how it is broken into lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bough::cli {

/// Bits of Span::style.
enum SpanStyle : unsigned {
  kPlain = 0,
  kBold = 1U << 0U,
  kItalic = 1U << 1U,
  kStrike = 1U << 2U,
  kCodeSpan = 1U << 3U,
  kLink = 1U << 4U,
  kFaint = 1U << 5U,
  kKeyword = 1U << 6U,
  kString = 1U << 7U,
  kNumber = 1U << 8U,
  kComment = 1U << 9U,
  kAdded = 1U << 10U,
  kRemoved = 1U << 11U,
  kPlace = 1U << 12U,  ///< Of a diff: where a change is.
  kFound = 1U << 13U,  ///< What was searched for.
};

struct Span {
  std::string text;
  unsigned style = kPlain;
  std::string target = {};  ///< Of a link.
};

/// A span as a terminal shows it.
std::string paintSpan(const Span& span);

/// Breaks text into lines of at most `firstColumns`, then `columns`, between words; between characters of two columns,
/// and inside words that are longer than a line. `hard`: anywhere, and every blank is kept, as code needs it. Never
/// returns nothing: text without characters is one empty line.
std::vector<std::string> wrapSpans(const std::vector<Span>& spans, std::size_t firstColumns, std::size_t columns,
                                   bool hard = false);

/// The columns that the spans take on one line.
std::size_t spansWidth(const std::vector<Span>& spans);

}  // namespace bough::cli
