// Prints tables whose columns line up in any script and fit the terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace bough::cli {

/// The last column takes the remaining width of the terminal and is cut to it. If that is too narrow, columns are left
/// out, then cut. Without a terminal, everything is shown.
class Table {
 public:
  enum class Align : std::uint8_t { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Left;
    int spare = 0;          ///< The order in which columns are left out when there is too little room, the greatest
                            ///< first; 0: never.
    bool cuttable = false;  ///< May be cut if that is not enough, because another column also identifies the row.
    std::function<std::string(const std::string& cell)> paint = {};  ///< Colors a cell that was not cut.
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row with one cell for each column. Makes cells safe for a terminal.
  void add(std::vector<std::string> cells);
  /// Draws a line before the next row.
  void addRule() { rules_.push_back(rows_.size()); }
  void print() const;

 private:
  struct Layout {
    std::vector<std::size_t> shown;   ///< Numbers of the columns that are shown.
    std::vector<std::size_t> widths;  ///< Widths of all columns.
  };
  [[nodiscard]] Layout layout() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const Layout& layout, bool painted) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> rules_;
};

}  // namespace bough::cli
