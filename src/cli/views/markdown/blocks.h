// Markdown as blocks: what a terminal and a page of HTML are both made from. Reads line by line, goes into block quotes
// no deeper than a limit, and keeps the line breaks of the author.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/markdown/spans.h"

namespace bough::cli {

struct MarkdownBlock {
  enum class Kind : std::uint8_t { Blank, Line, Heading, Item, Rule, Code, Table };
  enum class Align : std::uint8_t { Left, Center, Right };
  using Cell = std::vector<Span>;

  Kind kind = Kind::Line;
  std::size_t level = 0;    ///< Of a heading, from 1.
  std::size_t quotes = 0;   ///< How many block quotes it is in.
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

/// Whether two lines are the head of a table and the line under it.
bool beginsTable(std::string_view head, std::string_view aligns);

/// For a terminal: lines of at most `width` columns, each with `indent` blanks before it.
std::string markdownForTerminal(std::string_view text, std::size_t width, std::size_t indent);
std::string markdownForTerminal(const std::vector<MarkdownBlock>& blocks, std::size_t width, std::size_t indent);
/// As HTML without anything that acts: everything is escaped, and only http, https and mailto become links.
std::string markdownAsHtml(std::string_view text);
std::string escapeHtml(std::string_view text);

}  // namespace bough::cli
