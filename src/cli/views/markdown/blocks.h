// Markdown as blocks: what a terminal and a page of HTML are both made from. Reads line by line, without recursion, and
// keeps the line breaks of the author.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/markdown/spans.h"

namespace bough::cli {

struct MarkdownBlock {
  enum class Kind : std::uint8_t { Blank, Line, Heading, Item, Quote, Rule, Code, Table };
  enum class Align : std::uint8_t { Left, Center, Right };
  using Cell = std::vector<Span>;

  Kind kind = Kind::Line;
  std::size_t level = 0;    ///< Of a heading, from 1; of a quote: how many marks it has.
  std::size_t indent = 0;   ///< Blanks before a line, an item or a block of code.
  std::string marker = {};  ///< Of an item: "•", "☐", "☑", or its number as "2.".
  std::vector<Span> spans = {};
  std::string language = {};                 ///< Of code.
  std::vector<std::string> lines = {};       ///< Of code.
  std::vector<Align> aligns = {};            ///< Of a table, a column each.
  std::vector<std::vector<Cell>> rows = {};  ///< Of a table; the first one is its head.
};

std::vector<MarkdownBlock> parseMarkdown(std::string_view text);
/// A part of a text, from the beginning of a line on. `inList` is the list that lines before it have begun.
std::vector<MarkdownBlock> parseMarkdown(std::string_view text, bool& inList);

/// The line that a block of code begins with.
struct MarkdownFence {
  char mark = '`';
  std::size_t size = 3;
  std::string language = {};

  [[nodiscard]] bool isClosedBy(std::string_view line) const;
};
std::optional<MarkdownFence> openedFence(std::string_view line);
/// Whether two lines are the head of a table and the line under it.
bool beginsTable(std::string_view head, std::string_view aligns);

/// The text of one line: emphasis, code, links.
std::vector<Span> parseInline(std::string_view text);
/// The bytes of an unfinished line whose meaning cannot change when the line goes on: everything before a mark that may
/// still find its partner.
std::size_t settledInline(std::string_view text);

/// For a terminal: lines of at most `width` columns, each with `indent` blanks before it.
std::string markdownForTerminal(std::string_view text, std::size_t width, std::size_t indent);
std::string markdownForTerminal(const std::vector<MarkdownBlock>& blocks, std::size_t width, std::size_t indent);
/// As HTML without anything that acts: everything is escaped, and only http, https and mailto become links.
std::string markdownAsHtml(std::string_view text);
std::string escapeHtml(std::string_view text);

}  // namespace bough::cli
