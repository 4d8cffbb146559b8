#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/markdown/blocks.h"
#include "cli/views/markdown/highlight.h"

namespace bough::cli {
namespace {

constexpr std::size_t kLeastColumns = 16;
constexpr std::size_t kDeepestIndent = 24;

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Shows the target of each link, because a terminal may not let the user follow links. Where strikethrough cannot be
// shown, struck words keep their marks.
std::vector<Span> asShown(const std::vector<Span>& spans) {
  std::vector<Span> out;
  bool struck = false;
  const auto strike = [&](bool now) {
    if (struck != now && !colorsAreUsed()) out.push_back({"~~"});
    struck = now;
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    strike((span.style & kStrike) != 0);
    out.push_back(span);
    const bool goesOn = i + 1 < spans.size() && spans[i + 1].target == span.target;
    if (span.target.empty() || goesOn || (span.target == span.text && span.title.empty())) continue;
    out.push_back({fmt::format(" ({}{})", span.target, span.title.empty() ? "" : " \"" + span.title + "\""), kFaint});
  }
  strike(false);
  return out;
}

class TerminalMarkdown {
 public:
  TerminalMarkdown(std::size_t width, std::size_t indent)
      : width_(std::max(width, indent + kLeastColumns)), indent_(indent) {}

  void add(const MarkdownBlock& block) {
    const std::size_t inner = std::min(block.indent, kDeepestIndent);
    bars_ = block.quotes == 0 ? "" : styled(Style::Dim, repeated("│ ", block.quotes));
    const std::size_t barColumns = 2 * block.quotes;
    room_ = std::max(width_ - indent_, kLeastColumns + barColumns) - barColumns;
    // Without a line between them, two adjacent code blocks would look like one.
    if (std::exchange(afterCode_, block.kind == MarkdownBlock::Kind::Code) && afterCode_) line("");
    switch (block.kind) {
      case MarkdownBlock::Kind::Blank: line(""); break;
      case MarkdownBlock::Kind::Line: put(inner, "", "", asShown(block.spans)); break;
      case MarkdownBlock::Kind::Heading: heading(block); break;
      case MarkdownBlock::Kind::Item: item(block, inner); break;
      case MarkdownBlock::Kind::Rule: line(styled(Style::Dim, repeated("─", std::min<std::size_t>(room_, 40)))); break;
      case MarkdownBlock::Kind::Code: code(block, inner); break;
      case MarkdownBlock::Kind::Table: table(block); break;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void line(std::string_view text) {
    out_ += text.empty() && bars_.empty() ? "\n" : fmt::format("{}{}{}\n", std::string(indent_, ' '), bars_, text);
  }

  // Prints text after `first`, and its other lines after `next`, which has the same width.
  void put(std::size_t inner, std::string_view first, std::string_view next, const std::vector<Span>& spans,
           bool hard = false) {
    const std::string blanks(inner, ' ');
    const std::size_t lead = inner + spansWidth({{std::string(first)}});
    const std::size_t room = room_ > lead + 1 ? room_ - lead : 1;
    bool isFirst = true;
    for (const std::string& each : wrapSpans(spans, room, room, hard)) {
      const std::string_view mark = isFirst ? first : next;
      isFirst = false;
      line(blanks + (mark.empty() ? "" : styled(Style::Dim, mark)) + each);
    }
  }

  void heading(const MarkdownBlock& block) {
    std::vector<Span> spans = asShown(block.spans);
    for (Span& span : spans) span.style |= block.level <= 2 ? kBold | kLink : kBold;
    put(0, "", "", spans);
  }

  void item(const MarkdownBlock& block, std::size_t inner) {
    const std::string first = block.marker + " ";
    put(inner, first, std::string(spansWidth({{first}}), ' '), asShown(block.spans));
  }

  void code(const MarkdownBlock& block, std::size_t inner) {
    Highlighter highlighter(block.language);
    for (const std::string& text : block.lines) {
      put(inner, "│ ", "│ ", highlighter.line(text), true);
    }
    if (block.lines.empty()) put(inner, "│ ", "│ ", {});
  }

  void table(const MarkdownBlock& block) {
    const std::size_t columns = block.aligns.size();
    if (columns * 8 > room_) {
      listRows(block);
      return;
    }
    const std::vector<std::size_t> widths = columnWidths(block, room_ - 3 * (columns - 1));
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      tableRow(block, block.rows[r], widths, r == 0);
      if (r > 0) continue;
      std::string rule;
      for (std::size_t c = 0; c < columns; ++c) rule += (c == 0 ? "" : "─┼─") + repeated("─", widths[c]);
      line(styled(Style::Dim, rule));
    }
  }

  static std::vector<std::size_t> columnWidths(const MarkdownBlock& block, std::size_t room) {
    std::vector<std::size_t> widths(block.aligns.size(), 1);
    for (const auto& row : block.rows) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        widths[c] = std::max(widths[c], std::min(spansWidth(asShown(row[c])), room));
      }
    }
    std::size_t sum = 0;
    for (const std::size_t width : widths) sum += width;
    for (; sum > room; --sum) --*std::ranges::max_element(widths);
    return widths;
  }

  void tableRow(const MarkdownBlock& block, const std::vector<MarkdownBlock::Cell>& row,
                const std::vector<std::size_t>& widths, bool head) {
    std::vector<std::vector<std::pair<std::string, std::size_t>>> cells;  // lines and their widths
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::vector<Span> spans = asShown(row[c]);
      for (Span& span : spans) span.style |= head ? kBold : kPlain;
      auto& lines = cells.emplace_back();
      for (std::string& each : wrapSpans(spans, widths[c], widths[c])) {
        const std::size_t columns = shownWidth(each);
        lines.emplace_back(std::move(each), columns);
      }
      height = std::max(height, lines.size());
    }
    for (std::size_t r = 0; r < height; ++r) {
      std::string text;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const auto& [said, columns] = r < cells[c].size() ? cells[c][r] : kNoLine;
        const std::size_t free = widths[c] - std::min(widths[c], columns);
        const std::size_t left = block.aligns[c] == MarkdownBlock::Align::Right    ? free
                                 : block.aligns[c] == MarkdownBlock::Align::Center ? free / 2
                                                                                   : 0;
        if (c > 0) text += styled(Style::Dim, " │ ");
        text += std::string(left, ' ') + said + std::string(free - left, ' ');
      }
      line(text);
    }
  }

  // Prints a table with too many columns for the terminal as lines of "head: cell".
  void listRows(const MarkdownBlock& block) {
    for (std::size_t r = 1; r < block.rows.size(); ++r) {
      for (std::size_t c = 0; c < block.rows[r].size(); ++c) {
        std::vector<Span> spans = block.rows.front()[c];
        for (Span& span : spans) span.style |= kBold;
        spans.push_back({": "});
        std::ranges::move(asShown(block.rows[r][c]), std::back_inserter(spans));
        put(0, c == 0 ? "• " : "  ", "  ", spans);
      }
    }
  }

  static inline const std::pair<std::string, std::size_t> kNoLine = {};

  std::string out_;
  const std::size_t width_;
  const std::size_t indent_;
  std::size_t room_ = 0;  // columns of the block
  std::string bars_;      // of the quotes around the block
  bool afterCode_ = false;
};

}  // namespace

std::string markdownForTerminal(std::string_view text, std::size_t width, std::size_t indent) {
  return markdownForTerminal(parseMarkdown(text::withoutTabs(text)), width, indent);
}

std::string markdownForTerminal(const std::vector<MarkdownBlock>& blocks, std::size_t width, std::size_t indent) {
  TerminalMarkdown made(width, indent);
  for (const MarkdownBlock& block : blocks) made.add(block);
  return made.take();
}

}  // namespace bough::cli
