// Columns that line up, whatever the script, and fit the terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace bough::cli {

/// The last column takes what is left of the terminal's width, and is cut to it. Where there is no terminal nothing is
/// cut.
class Table {
 public:
  enum class Align : std::uint8_t { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns, safe for a terminal or not.
  void add(std::vector<std::string> cells);
  /// Draws a line before the next row.
  void addRule() { rules_.push_back(rows_.size()); }
  void print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> rules_;
};

}  // namespace bough::cli
