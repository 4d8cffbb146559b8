// Lets the user pick one of many rows on the whole screen: move, filter by typing, see a preview, act on a row.
//
// Typed text filters. Escape leaves the filter line; then letters are commands, `/` returns to the filter, and Escape
// or `q` ends the picker. With Alt, commands work in both modes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace bough::cli {

/// A line of printable text, with its own style.
struct PickerLine {
  std::string text{};
  std::optional<Style> style{};
  bool isPainted = false;  ///< The text already has its colors and fits.
};

/// An action on a row.
struct PickerAction {
  char key = 0;            ///< The key: a letter.
  std::string name{};      ///< Its name in the last line.
  std::string question{};  ///< The question before the action; empty: it runs at once.
  bool takesText = false;  ///< The answer is a text; otherwise yes or no.
  bool ends = false;       ///< The caller runs it: the picker ends and returns this row.
};

class PickerSource {
 public:
  virtual ~PickerSource() = default;
  [[nodiscard]] virtual std::string title() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Returns the text that the filter searches.
  [[nodiscard]] virtual std::string searchText(std::size_t row) const = 0;
  [[nodiscard]] virtual PickerLine line(std::size_t row) const = 0;
  /// Returns at most `height` lines; the picker cuts lines that are too long.
  virtual std::vector<PickerLine> preview(std::size_t row, std::size_t width, std::size_t height) = 0;
  /// Loads more rows, after the existing ones. Called while the user types nothing; returns false when there are no
  /// more.
  virtual bool loadMore() { return false; }
  /// Returns rows that contain the typed text in a place that the filter does not see. Called while the user types
  /// nothing.
  virtual std::vector<std::size_t> findInText(const std::string& /*typed*/) { return {}; }
  [[nodiscard]] virtual std::vector<PickerAction> actions() const { return {}; }
  /// Returns the question to ask before acting on this row.
  [[nodiscard]] virtual std::string question(const PickerAction& action, std::size_t /*row*/) const {
    return action.question;
  }
  /// Returns why this row cannot be opened, in one line; empty when it can.
  [[nodiscard]] virtual std::string refusal(std::size_t /*row*/) const { return {}; }
  /// Runs an action and returns one line about it. If the action replaces this row by a new row, the new row is
  /// selected.
  virtual std::string act(char /*key*/, std::size_t /*row*/, const std::string& /*text*/) { return {}; }
};

struct Picked {
  std::size_t row = 0;
  char action = 0;  ///< The key of an action that ends the picker; 0: the row was opened.
};

/// Returns what was chosen, or std::nullopt when the user left. `first` is the row that is selected initially.
std::optional<Picked> pickRow(PickerSource& source, std::size_t first = 0);

/// Returns true when there is a terminal that can show a picker.
bool canPick();

/// Breaks a text between words into lines of at most `width` columns.
std::vector<std::string> linesThatFit(std::string_view text, std::size_t width);

}  // namespace bough::cli
