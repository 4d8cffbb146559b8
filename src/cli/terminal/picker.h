// Picks one of many rows on the whole screen: move, type to filter, look at a preview, do something to a row.
//
// What is typed filters. Escape leaves the line of the filter: then letters are commands, `/` filters again, and Escape
// or `q` ends. With Alt the commands work in both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace bough::cli {

/// A line of text, printable, in a style of its own.
struct PickerLine {
  std::string text{};
  std::optional<Style> style{};
  bool isPainted = false;  ///< The text has its colors already, and fits.
};

/// Something that can be done to a row.
struct PickerAction {
  char key = 0;            ///< The letter.
  std::string name{};      ///< As the last line calls it.
  std::string question{};  ///< Asked before it is done; empty: it is done at once.
  bool takesText = false;  ///< The answer is a text; else yes or no.
  bool ends = false;       ///< The caller does it: the picker ends with this row.
};

class PickerSource {
 public:
  virtual ~PickerSource() = default;
  [[nodiscard]] virtual std::string title() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// What the filter looks into.
  [[nodiscard]] virtual std::string searchText(std::size_t row) const = 0;
  [[nodiscard]] virtual PickerLine line(std::size_t row) const = 0;
  /// At most `height` lines; longer ones are cut.
  virtual std::vector<PickerLine> preview(std::size_t row, std::size_t width, std::size_t height) = 0;
  /// Brings more rows, after those that are there. Called while no key comes; false when there are no more.
  virtual bool loadMore() { return false; }
  /// Rows that hold what was typed in a text that the filter does not see. Called while no key comes.
  virtual std::vector<std::size_t> findInText(const std::string& /*typed*/) { return {}; }
  [[nodiscard]] virtual std::vector<PickerAction> actions() const { return {}; }
  /// What is asked before it is done to this row.
  [[nodiscard]] virtual std::string question(const PickerAction& action, std::size_t /*row*/) const {
    return action.question;
  }
  /// Why this row cannot be opened, in one line; empty: it can.
  [[nodiscard]] virtual std::string refusal(std::size_t /*row*/) const { return {}; }
  /// Does it and says so in one line. A row that it adds in the place of this one is selected.
  virtual std::string act(char /*key*/, std::size_t /*row*/, const std::string& /*text*/) { return {}; }
};

struct Picked {
  std::size_t row = 0;
  char action = 0;  ///< The key of an action that ends the picker; 0: the row was opened.
};

/// What was chosen; none when the user went away. `first` is the row that is selected at the beginning.
std::optional<Picked> pickRow(PickerSource& source, std::size_t first = 0);

/// Whether there is a terminal that can show a picker.
bool canPick();

/// A text in lines of at most so many columns, broken between words.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace bough::cli
