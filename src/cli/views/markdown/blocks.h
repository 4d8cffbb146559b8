// Parses Markdown into blocks, from which terminal text and HTML are made. Reads line by line, limits the nesting of
// block quotes, and keeps the author's line breaks.
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
  std::size_t level = 0;    ///< The level of a heading, from 1.
  std::size_t quotes = 0;   ///< The number of block quotes around it.
  std::size_t indent = 0;   ///< The blanks before a line, an item or a code block.
  std::string marker = {};  ///< The marker of an item: "•", "☐", "☑", or its number, such as "2.".
  std::vector<Span> spans = {};
  std::string language = {};                 ///< The language of a code block.
  std::vector<std::string> lines = {};       ///< The lines of a code block.
  std::vector<Align> aligns = {};            ///< The alignment of each table column.
  std::vector<std::vector<Cell>> rows = {};  ///< The rows of a table; the first one is its head.
};

std::vector<MarkdownBlock> parseMarkdown(std::string_view text);
/// Parses part of a text, which must start at the beginning of a line. `inList`: whether the lines before it have begun
/// a list.
std::vector<MarkdownBlock> parseMarkdown(std::string_view text, bool& inList);

/// Returns true when two lines are the head of a table and the line under it.
bool beginsTable(std::string_view head, std::string_view aligns);

/// Returns lines for a terminal, of at most `width` columns, each with `indent` blanks before it.
std::string markdownForTerminal(std::string_view text, std::size_t width, std::size_t indent);
std::string markdownForTerminal(const std::vector<MarkdownBlock>& blocks, std::size_t width, std::size_t indent);
/// Returns HTML without active content: everything is escaped, and only http, https and mailto become links.
std::string markdownAsHtml(std::string_view text);
std::string escapeHtml(std::string_view text);

}  // namespace bough::cli
