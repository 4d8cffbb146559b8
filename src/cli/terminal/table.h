// Columns that line up, whatever the script, and fit the terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace bough::cli {

/// The last column takes what is left of the terminal's width, and is cut to it. Where that is too little, columns are
/// left out, then cut. Where there is no terminal everything is shown.
class Table {
 public:
  enum class Align : std::uint8_t { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Left;
    int spare = 0;          ///< Left out when there is little room, the greatest first; 0: never.
    bool cuttable = false;  ///< Cut when that is not enough: another column names the row too.
    std::function<std::string(const std::string& cell)> paint = {};  ///< Colors a cell that was not cut.
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns, safe for a terminal or not.
  void add(std::vector<std::string> cells);
  /// Draws a line before the next row.
  void addRule() { rules_.push_back(rows_.size()); }
  void print() const;

 private:
  struct Layout {
    std::vector<std::size_t> shown;   ///< Columns.
    std::vector<std::size_t> widths;  ///< Of all columns.
  };
  [[nodiscard]] Layout layout() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const Layout& layout, bool painted) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> rules_;
};

}  // namespace bough::cli
