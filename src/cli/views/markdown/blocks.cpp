#include "cli/views/markdown/blocks.h"

#include <algorithm>
#include <optional>

#include "base/text/text.h"

namespace bough::cli {
namespace {

// Returns the width of the blanks at the beginning of a line.
std::size_t indentOf(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c == ' ') {
      ++columns;
    } else if (c == '\t') {
      columns += 4 - columns % 4;
    } else {
      break;
    }
  }
  return columns;
}

std::vector<std::string_view> cellsOf(std::string_view line) {
  line = text::trimmed(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|') && !line.ends_with("\\|")) line.remove_suffix(1);
  std::vector<std::string_view> cells;
  std::size_t begin = 0;
  bool code = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '`') code = !code && line.find('`', i + 1) != std::string_view::npos;
    if (i < line.size() && (line[i] != '|' || code || (i > 0 && line[i - 1] == '\\'))) continue;
    cells.push_back(text::trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return cells;
}

// Parses the line under the head of a table: |:---|---:|
bool readAligns(std::string_view line, std::vector<MarkdownBlock::Align>& aligns) {
  if (line.find('-') == std::string_view::npos || line.find_first_not_of(" \t\r|:-") != std::string_view::npos)
    return false;
  for (const std::string_view cell : cellsOf(line)) {
    if (cell.find('-') == std::string_view::npos) return false;
    const bool left = cell.starts_with(':');
    const bool right = cell.ends_with(':');
    aligns.push_back(right ? (left ? MarkdownBlock::Align::Center : MarkdownBlock::Align::Right)
                           : MarkdownBlock::Align::Left);
  }
  return true;
}

// Returns the length of an underline made of `mark`; 0 for any other line.
std::size_t underline(std::string_view line, char mark) {
  const std::string_view said = text::trimmed(line);
  return said.find_first_not_of(mark) == std::string_view::npos ? said.size() : 0;
}

class BlockReader {
 public:
  BlockReader(std::string_view text, bool& inList, std::size_t quotes)
      : rest_(text), inList_(inList), quotes_(quotes) {}

  std::vector<MarkdownBlock> read() {
    while (!rest_.empty()) {
      const std::string_view line = take();
      const std::string_view said = text::trimmed(line);
      if (said.empty()) {
        blocks_.push_back({.kind = MarkdownBlock::Kind::Blank});
      } else if (!fence(line) && !heading(said) && !rule(said) && !quote(line, said) && !item(line, said) &&
                 !table(line, said) && !underlined(line, said)) {
        const bool code = indentOf(line) >= 4 && !inList_;
        blocks_.push_back({.kind = MarkdownBlock::Kind::Line, .indent = indentOf(line)});
        blocks_.back().spans = code ? std::vector<Span>{{std::string(said)}} : parseInline(said);
        if (indentOf(line) == 0) inList_ = false;
      }
    }
    return std::move(blocks_);
  }

 private:
  std::string_view take() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return line;
  }

  [[nodiscard]] std::string_view peek() const { return rest_.substr(0, rest_.find('\n')); }

  bool fence(std::string_view line) {
    const auto fence = text::openedFence(line);
    if (!fence) return false;
    MarkdownBlock code{.kind = MarkdownBlock::Kind::Code, .indent = indentOf(line), .language = fence->language};
    while (!rest_.empty()) {
      std::string_view inside = take();
      if (fence->isClosedBy(inside)) break;
      std::size_t blanks = 0;
      while (blanks < code.indent && blanks < inside.size() && inside[blanks] == ' ') ++blanks;
      inside.remove_prefix(blanks);
      if (inside.ends_with('\r')) inside.remove_suffix(1);
      code.lines.emplace_back(inside);
    }
    blocks_.push_back(std::move(code));
    return true;
  }

  bool heading(std::string_view said) {
    const std::size_t level = std::min(said.find_first_not_of('#'), said.size());
    if (level == 0 || level > 6 || (level < said.size() && said[level] != ' ')) return false;
    said = text::trimmed(said.substr(level));
    const std::string_view open = said.substr(0, said.find_last_not_of('#') + 1);  // without the closing marks
    addHeading(level, open.empty() || open.ends_with(' ') ? text::trimmed(open) : said);
    return true;
  }

  void addHeading(std::size_t level, std::string_view said) {
    blocks_.push_back({.kind = MarkdownBlock::Kind::Heading, .level = level, .spans = parseInline(said)});
    inList_ = false;
  }

  // A line of "=" or "-" makes the line above it a heading. After several lines of a paragraph, "---" is a rule
  // instead.
  bool underlined(std::string_view line, std::string_view said) {
    const bool first = blocks_.empty() || blocks_.back().kind != MarkdownBlock::Kind::Line;
    const std::size_t level = underline(peek(), '=') > 1 ? 1 : first && underline(peek(), '-') > 1 ? 2 : 0;
    if (level == 0 || indentOf(line) >= 4) return false;
    take();
    addHeading(level, said);
    return true;
  }

  bool rule(std::string_view said) {
    const char mark = said.front();
    if (mark != '-' && mark != '*' && mark != '_') return false;
    const auto marks = std::ranges::count(said, mark);
    if (marks < 3 || static_cast<std::size_t>(marks + std::ranges::count(said, ' ')) != said.size()) return false;
    blocks_.push_back({.kind = MarkdownBlock::Kind::Rule});
    return true;
  }

  // Parses the lines of a quote as a text of their own.
  bool quote(std::string_view line, std::string_view said) {
    constexpr std::size_t kDeepest = 8;
    if (!said.starts_with('>') || quotes_ == kDeepest) return false;
    std::string inside;
    for (;; line = take()) {
      said = text::trimmed(line);
      said.remove_prefix(std::min<std::size_t>(said.starts_with("> ") ? 2 : 1, said.size()));
      inside += std::string(said) + "\n";
      if (!text::trimmed(peek()).starts_with('>')) break;
    }
    bool inList = false;
    std::vector<MarkdownBlock> blocks = BlockReader(inside, inList, quotes_ + 1).read();
    for (MarkdownBlock& block : blocks) block.quotes = std::max(block.quotes, quotes_ + 1);
    std::ranges::move(blocks, std::back_inserter(blocks_));
    return true;
  }

  bool item(std::string_view line, std::string_view said) {
    std::size_t marks = 1;
    std::string marker = "•";
    if (said.front() >= '0' && said.front() <= '9') {
      while (marks < said.size() && marks < 9 && said[marks] >= '0' && said[marks] <= '9') ++marks;
      if (marks >= said.size() || (said[marks] != '.' && said[marks] != ')')) return false;
      marker = std::string(said.substr(0, ++marks));
    } else if (said.front() != '-' && said.front() != '*' && said.front() != '+') {
      return false;
    }
    if (marks < said.size() && said[marks] != ' ' && said[marks] != '\t') return false;
    std::string_view text = text::trimmed(said.substr(marks));
    if (text.starts_with("[ ] ")) marker = "☐";
    if (text.starts_with("[x] ") || text.starts_with("[X] ")) marker = "☑";
    if (marker == "☐" || marker == "☑") text.remove_prefix(4);
    blocks_.push_back(
        {.kind = MarkdownBlock::Kind::Item, .indent = indentOf(line), .marker = marker, .spans = parseInline(text)});
    inList_ = true;
    return true;
  }

  bool table(std::string_view line, std::string_view said) {
    MarkdownBlock table{.kind = MarkdownBlock::Kind::Table, .indent = indentOf(line)};
    if (said.find('|') == std::string_view::npos || !readAligns(peek(), table.aligns)) return false;
    const std::vector<std::string_view> head = cellsOf(said);
    if (head.size() != table.aligns.size()) return false;
    take();
    add(table, head);
    while (!rest_.empty() && peek().find('|') != std::string_view::npos) add(table, cellsOf(take()));
    blocks_.push_back(std::move(table));
    return true;
  }

  // A row has as many cells as the head; extra cells go into the last one.
  static void add(MarkdownBlock& table, const std::vector<std::string_view>& cells) {
    std::vector<MarkdownBlock::Cell> row(table.aligns.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      MarkdownBlock::Cell& cell = row[std::min(i, row.size() - 1)];
      if (i >= row.size()) cell.push_back({" | "});
      std::ranges::move(parseInline(cells[i]), std::back_inserter(cell));
    }
    table.rows.push_back(std::move(row));
  }

  std::string_view rest_;
  std::vector<MarkdownBlock> blocks_;
  bool& inList_;  // whether indented lines belong to an item
  const std::size_t quotes_;
};

}  // namespace

bool beginsTable(std::string_view head, std::string_view aligns) {
  std::vector<MarkdownBlock::Align> read;
  return readAligns(aligns, read) && cellsOf(head).size() == read.size();
}

std::vector<MarkdownBlock> parseMarkdown(std::string_view text) {
  bool inList = false;
  return parseMarkdown(text, inList);
}

std::vector<MarkdownBlock> parseMarkdown(std::string_view text, bool& inList) {
  return BlockReader(text, inList, 0).read();
}

}  // namespace bough::cli
