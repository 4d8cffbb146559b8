#include "cli/table.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "cli/output.h"

namespace bough::cli {
namespace {

// Most cells are ASCII, which needs no table of widths.
std::size_t widthOf(std::string_view cell) {
  const bool ascii = std::ranges::all_of(cell, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? cell.size() : text::displayWidth(cell);
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = text::printable(cell);
  rows_.push_back(std::move(cells));
}

void Table::print() const {
  constexpr std::size_t kGap = 2;
  constexpr std::size_t kLeast = 12;
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = widthOf(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, widthOf(row[c]));
    widths.push_back(width);
  }
  std::size_t before = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before += widths[c] + kGap;
  std::size_t last = widths.back();
  if (stdoutIsTerminal()) {
    const std::size_t room = terminalWidth();
    last = std::min(last, std::max(kLeast, room > before ? room - before : 0));
  }
  std::string out;
  const auto draw = [&](const std::vector<std::string>& cells, bool title) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool isLast = c + 1 == cells.size();
      std::string cell = cells[c];
      if (isLast && widthOf(cell) > last) cell = text::excerptToWidth(cell, last);
      const std::size_t width = isLast ? last : widths[c];
      const std::size_t blanks = width - std::min(width, widthOf(cell));
      const std::string pad(blanks, ' ');
      if (columns_[c].align == Align::Right) {
        line += pad + cell;
      } else {
        line += cell + (isLast ? "" : pad);
      }
      if (!isLast) line += std::string(kGap, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    out += (title ? styled(Style::Dim, line) : line) + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  draw(titles, true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (std::ranges::find(rules_, r) != rules_.end()) {
      std::string rule;
      for (std::size_t i = 0; i < before + last; ++i) rule += "─";
      out += styled(Style::Dim, rule) + "\n";
    }
    draw(rows_[r], false);
  }
  printText(out);
}

}  // namespace bough::cli
