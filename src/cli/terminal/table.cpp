#include "cli/terminal/table.h"

#include <algorithm>
#include <string_view>

#include "base/text/text.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

constexpr std::size_t kGap = 2;

// Most cells are ASCII and need no width table.
std::size_t cellWidth(std::string_view cell, bool isLast = false) {
  const bool ascii = std::ranges::all_of(cell, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  // The last cell may be counted too wide, because no cell after it would be moved.
  return ascii ? cell.size() : isLast ? text::widestDisplay(cell) : text::displayWidth(cell);
}

// Cuts a cell but keeps its indentation.
std::string cutCell(std::string_view cell, std::size_t width) {
  const std::size_t indent = std::min(cell.find_first_not_of(' '), width / 2);
  return std::string(indent, ' ') + text::excerptToWidth(cell.substr(indent), width - indent);
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = text::printable(cell);
  rows_.push_back(std::move(cells));
}

Table::Layout Table::layout() const {
  constexpr std::size_t kWanted = 16;
  constexpr std::size_t kLeast = 12;
  constexpr std::size_t kLeastCut = 8;
  constexpr std::size_t kWidest = 256;
  constexpr std::size_t kWidestLast = 1024;
  Layout made;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = cellWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, cellWidth(row[c], c + 1 == columns_.size()));
    made.widths.push_back(width);
    made.shown.push_back(c);
  }
  if (!stdoutIsTerminal()) {
    // One very long cell must not make every line as long.
    for (std::size_t& width : made.widths) {
      width = std::min(width, &width == &made.widths.back() ? kWidestLast : kWidest);
    }
    return made;
  }
  const std::size_t room = terminalWidth();
  const auto before = [&] {
    std::size_t sum = 0;
    for (const std::size_t c : made.shown) sum += c + 1 == columns_.size() ? 0 : made.widths[c] + kGap;
    return sum;
  };
  std::size_t& last = made.widths.back();
  // The width that the last column asks for; 0, without a gap before it, when it was left out.
  const auto ending = [&](std::size_t most) {
    return made.shown.back() + 1 == columns_.size() ? std::min(last, most) : 0;
  };
  const auto used = [&](std::size_t most) {
    const bool hasLast = made.shown.back() + 1 == columns_.size();
    return before() + ending(most) - (hasLast ? 0 : std::min(before(), kGap));
  };
  while (used(kWanted) > room) {
    const auto spared = std::ranges::max_element(made.shown, {}, [&](std::size_t c) { return columns_[c].spare; });
    if (columns_[*spared].spare == 0) break;
    made.shown.erase(spared);
  }
  for (const std::size_t c : made.shown) {
    const std::size_t needed = used(kWanted);
    if (!columns_[c].cuttable || needed <= room) continue;
    const std::size_t surplus = needed - room;
    made.widths[c] =
        made.widths[c] > surplus + kLeastCut ? made.widths[c] - surplus : std::min(made.widths[c], kLeastCut);
  }
  last = std::min(last, std::max(kLeast, room > before() ? room - before() : 0));
  // On a very narrow terminal, narrow the remaining columns, the widest first: a row that the terminal breaks is
  // unreadable.
  constexpr std::size_t kNarrowest = 4;
  while (used(last) > room) {
    const auto widest = std::ranges::max_element(made.shown, {}, [&](std::size_t c) { return made.widths[c]; });
    if (made.widths[*widest] <= kNarrowest) break;
    --made.widths[*widest];
  }
  return made;
}

std::string Table::line(const std::vector<std::string>& cells, const Layout& layout, bool painted) const {
  std::string out;
  for (const std::size_t c : layout.shown) {
    const bool isLast = c == layout.shown.back();
    const std::size_t width = layout.widths[c];
    const std::string cell = cellWidth(cells[c], isLast) > width ? cutCell(cells[c], width) : cells[c];
    const std::string pad(width - std::min(width, cellWidth(cell)), ' ');
    const std::string shown = painted && columns_[c].paint && cell == cells[c] ? columns_[c].paint(cell) : cell;
    out += columns_[c].align == Align::Right ? pad + shown : shown + pad;
    if (!isLast) out += std::string(kGap, ' ');
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

void Table::print() const {
  const Layout made = layout();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string out = styled(Style::Dim, line(titles, made, false)) + "\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (std::ranges::find(rules_, r) != rules_.end()) {
      std::size_t width = 0;
      for (const std::size_t c : made.shown) width += made.widths[c] + (c == made.shown.back() ? 0 : kGap);
      std::string rule;
      for (std::size_t i = 0; i < width; ++i) rule += "─";
      out += styled(Style::Dim, rule) + "\n";
    }
    out += line(rows_[r], made, true) + "\n";
  }
  printText(out);
}

}  // namespace bough::cli
