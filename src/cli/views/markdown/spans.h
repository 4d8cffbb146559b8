// Styled text, and how it is broken into lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text/inline_markdown.h"

namespace bough::cli {

using text::kBold;
using text::kCodeSpan;
using text::kItalic;
using text::kLink;
using text::kPlain;
using text::kStrike;
using text::parseInline;
using text::Span;

/// More bits of Span::style.
inline constexpr unsigned kFaint = text::kFreeStyle << 0U;
inline constexpr unsigned kKeyword = text::kFreeStyle << 1U;
inline constexpr unsigned kString = text::kFreeStyle << 2U;
inline constexpr unsigned kNumber = text::kFreeStyle << 3U;
inline constexpr unsigned kComment = text::kFreeStyle << 4U;
inline constexpr unsigned kAdded = text::kFreeStyle << 5U;
inline constexpr unsigned kRemoved = text::kFreeStyle << 6U;
inline constexpr unsigned kPlace = text::kFreeStyle << 7U;  ///< In a diff: where a change is.
inline constexpr unsigned kFound = text::kFreeStyle << 8U;  ///< A search match.

/// Returns a span as a terminal shows it.
std::string paintSpan(const Span& span);

/// Breaks text into lines of at most `firstColumns`, then `columns`: between words, between characters of two columns,
/// and inside words that are longer than a line. With `hard`, breaks anywhere and keeps every blank, as code needs it.
/// Always returns at least one line; empty text gives one empty line.
std::vector<std::string> wrapSpans(const std::vector<Span>& spans, std::size_t firstColumns, std::size_t columns,
                                   bool hard = false);

/// Returns the columns that the spans take on one line.
std::size_t spansWidth(const std::vector<Span>& spans);

}  // namespace bough::cli
