#include "cli/terminal/picker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/text/text.h"
#include "cli/terminal/fuzzy.h"
#include "cli/terminal/graphemes.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli {
namespace {

using Kind = Key::Kind;

constexpr int kIdleMs = 80;
constexpr std::size_t kBesideWidth = 90;  // from this width on, the preview is beside the list, otherwise below it
constexpr std::size_t kBelowHeight = 16;

// Returns the text in exactly `width` columns.
std::string paddedToWidth(std::string_view text, std::size_t width) {
  const std::size_t full = text::displayWidth(text);
  if (full <= width) return std::string(text) + std::string(width - full, ' ');
  std::string out = std::string(text::cutToWidth(text, width > 0 ? width - 1 : 0)) + (width > 0 ? "…" : "");
  const std::size_t shown = text::displayWidth(out);
  return out + std::string(width - std::min(width, shown), ' ');
}

// Returns the end of a text that is too long, because the user types there.
std::string excerptOfEnd(std::string_view text, std::size_t width) {
  if (text::displayWidth(text) <= width) return std::string(text);
  return "…" + std::string(width > 0 ? endToWidth(text, width - 1) : std::string_view());
}

std::string painted(const PickerLine& line, std::size_t width) {
  if (line.isPainted) return line.text + std::string(width - std::min(width, shownWidth(line.text)), ' ');
  const std::string text = paddedToWidth(line.text, width);
  return line.style ? styled(*line.style, text) : text;
}

// The rows that match the typed text, and the selected row.
class RowList {
 public:
  RowList(PickerSource& source, std::size_t first) : source_(source) {
    addNewRows();
    select(first);
  }

  /// Takes in rows that were added after the others.
  void addNewRows() {
    const auto row = selected();
    for (std::size_t i = filter_.size(); i < source_.size(); ++i) filter_.add(source_.searchText(i));
    filter(typed_);
    if (row) select(*row);
  }
  /// Takes in all rows again after an action, which may have changed any of them. The selected row stays, whether it
  /// matches or not.
  void reloadRows(std::vector<std::size_t> alsoFound) {
    const auto row = selected();
    filter_.clear();
    addNewRows();
    if (row) alsoFound.push_back(*row);
    append(alsoFound);
    if (row) select(*row);
  }
  void filter(const std::string& typed) {
    typed_ = typed;
    const auto& found = filter_.match(typed_);
    shown_.assign(found.begin(), found.end());
    move(0);
  }
  /// Adds rows found by another search after those that match.
  void append(const std::vector<std::size_t>& rows) {
    std::vector<bool> there(source_.size(), false);
    for (const std::size_t row : shown_) there[row] = true;
    for (const std::size_t row : rows) {
      if (row >= there.size() || there[row]) continue;
      there[row] = true;
      shown_.push_back(row);
    }
  }

  void move(std::ptrdiff_t by) {
    const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
    const auto at = static_cast<std::ptrdiff_t>(place_) + by;
    place_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::max<std::ptrdiff_t>(last, 0)));
  }
  void moveToFirst() { place_ = 0; }
  void moveToLast() { move(static_cast<std::ptrdiff_t>(shown_.size())); }

  /// Whether to search the text of the rows, too. A single letter is nearly everywhere, so it is not searched.
  [[nodiscard]] bool isSearched() const { return typed_.size() > 1; }
  [[nodiscard]] const std::vector<std::size_t>& shown() const { return shown_; }
  /// Returns the place of the selected row among those shown.
  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] std::optional<std::size_t> selected() const {
    if (place_ >= shown_.size()) return std::nullopt;
    return shown_[place_];
  }

 private:
  void select(std::size_t row) {
    const auto at = std::ranges::find(shown_, row);
    if (at != shown_.end()) place_ = static_cast<std::size_t>(at - shown_.begin());
  }

  PickerSource& source_;
  FuzzyFilter filter_;
  std::string typed_;
  std::vector<std::size_t> shown_;
  std::size_t place_ = 0;
};

class Picker {
 public:
  Picker(PickerSource& source, std::size_t first) : source_(source), rows_(source, first) {}

  std::optional<Picked> run() {
    Screen screen;
    for (;;) {
      draw();
      const bool busy = more_ || searching_;
      const Key key = screen.next(busy ? kIdleMs : -1);
      if (key.kind == Kind::Closed) return std::nullopt;
      if (key.kind == Kind::Resize) continue;
      if (key.kind == Kind::Idle) {
        doIdleWork();
        continue;
      }
      message_.clear();
      if (asking_) {
        answer(key);
      } else if (!handle(key)) {
        return chosen_;
      }
      if (chosen_) return chosen_;
    }
  }

 private:
  // Does one piece of the work that can wait until the user stops typing.
  void doIdleWork() {
    if (more_) {
      more_ = source_.loadMore();
      rows_.addNewRows();
      return;
    }
    searching_ = false;
    rows_.append(source_.findInText(typed_));
  }

  void filterRows() {
    rows_.filter(typed_);
    searching_ = rows_.isSearched();
  }

  // Returns false when the picker ends.
  bool handle(const Key& key) {
    const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(listHeight_, 2) - 1);
    switch (key.kind) {
      case Kind::Up: rows_.move(-1); return true;
      case Kind::Down: rows_.move(1); return true;
      case Kind::PageUp: rows_.move(-page); return true;
      case Kind::PageDown: rows_.move(page); return true;
      case Kind::Home: rows_.moveToFirst(); return true;
      case Kind::End: rows_.moveToLast(); return true;
      case Kind::Enter: choose(0); return true;
      case Kind::Alt: begin(key.text.front()); return true;
      case Kind::Control: return control(key.text.front(), page);
      case Kind::Escape:
        if (!typing_) return false;
        typing_ = false;
        return true;
      case Kind::Backspace:
        if (typing_) erase();
        return true;
      case Kind::Paste: return !typing_ || type(key.text);
      case Kind::Text: return typing_ ? type(key.text) : command(key.text.front(), page);
      default: return true;
    }
  }

  bool control(char letter, std::ptrdiff_t page) {
    if (letter == 'c' || letter == 'd') return false;
    if (letter == 'n' || letter == 'j') rows_.move(1);
    if (letter == 'p' || letter == 'k') rows_.move(-1);
    if (letter == 'f') rows_.move(page);
    if (letter == 'b') rows_.move(-page);
    if (letter == 'u' || letter == 'w') {
      letter == 'u' ? typed_.clear() : eraseLastWord(typed_);
      filterRows();
    }
    return true;
  }

  bool command(char letter, std::ptrdiff_t page) {
    switch (letter) {
      case 'q': return false;
      case 'j': rows_.move(1); break;
      case 'k': rows_.move(-1); break;
      case 'g': rows_.moveToFirst(); break;
      case 'G': rows_.moveToLast(); break;
      case ' ': rows_.move(page); break;
      case '/':
      case 'i': typing_ = true; break;
      default: begin(letter);
    }
    return true;
  }

  bool type(const std::string& text) {
    typed_ += text;
    rows_.moveToFirst();
    filterRows();
    return true;
  }

  void erase() {
    if (typed_.empty()) return;
    eraseLastGrapheme(typed_);
    filterRows();
  }

  void begin(char letter) {
    const auto actions = source_.actions();
    const auto action = std::ranges::find(actions, letter, &PickerAction::key);
    if (action == actions.end() || !rows_.selected()) return;
    if (action->question.empty()) return act(letter, "");
    asking_ = *action;
    asking_->question = source_.question(*action, *rows_.selected());
    answer_.clear();
  }

  void answer(const Key& key) {
    const bool yes = key.kind == Kind::Text && (key.text == "y" || key.text == "Y");
    if (!asking_->takesText) {
      const char letter = asking_->key;
      asking_.reset();
      if (yes) act(letter, "");
      return;
    }
    if (key.kind == Kind::Text || key.kind == Kind::Paste) answer_ += key.text;
    if (key.kind == Kind::Backspace) eraseLastGrapheme(answer_);
    if (key.kind == Kind::Control && key.text == "w") return eraseLastWord(answer_);
    if (key.kind == Kind::Escape || key.kind == Kind::Control) asking_.reset();
    if (key.kind != Kind::Enter) return;
    const char letter = asking_->key;
    asking_.reset();
    if (!answer_.empty()) act(letter, answer_);
  }

  void choose(char action) {
    const auto row = rows_.selected();
    if (!row) return;
    message_ = action == 0 ? source_.refusal(*row) : std::string();
    if (message_.empty()) chosen_ = Picked{.row = *row, .action = action};
  }

  void act(char letter, const std::string& text) {
    const auto row = rows_.selected();
    if (!row) return;
    const auto actions = source_.actions();
    if (std::ranges::find(actions, letter, &PickerAction::key)->ends) return choose(letter);
    message_ = source_.act(letter, *row, text);
    rows_.reloadRows(rows_.isSearched() ? source_.findInText(typed_) : std::vector<std::size_t>());
  }

  void draw() {
    const Screen::Size size = Screen::size();
    const bool beside = size.width >= kBesideWidth;
    const bool below = !beside && size.height >= kBelowHeight;
    const std::vector<std::string> last = lastLines(size);
    const std::size_t body = size.height > last.size() + 1 ? size.height - last.size() - 1 : 0;
    listHeight_ = below ? body / 2 : body;
    const std::size_t listWidth = beside ? size.width * 9 / 20 : size.width;
    if (rows_.place() < top_) top_ = rows_.place();
    if (rows_.place() >= top_ + listHeight_) top_ = rows_.place() + 1 - std::max<std::size_t>(listHeight_, 1);
    const std::string count = fmt::format("{} of {}{}", rows_.shown().size(), source_.size(), more_ ? "…" : "");
    const std::string name = source_.title() + ": ";
    const std::size_t room = size.width > count.size() + 1 ? size.width - count.size() - 1 : 0;
    // Keep one column for the cursor.
    const std::string head =
        name + excerptOfEnd(text::printable(typed_), room - std::min(room, text::displayWidth(name) + 1));
    std::vector<std::string> lines;
    lines.push_back(paddedToWidth(head, room) + " " + styled(Style::Dim, count));
    std::vector<PickerLine> side;
    const auto row = rows_.selected();
    const std::size_t sideWidth = beside ? size.width - listWidth - 3 : size.width;
    const std::size_t sideHeight = beside ? body : below ? body - listHeight_ - 1 : 0;
    if (row && sideHeight > 0) side = source_.preview(*row, sideWidth, sideHeight);
    for (std::size_t i = 0; i < listHeight_; ++i) {
      std::string line = listLine(top_ + i, listWidth);
      // Position explicitly: if the terminal shows a character wider than we counted, the preview still begins in its
      // column.
      if (beside)
        line += fmt::format("\033[{}G", listWidth + 1) + styled(Style::Dim, " │ ") +
                (i < side.size() ? painted(side[i], sideWidth) : "");
      lines.push_back(std::move(line));
    }
    if (below) {
      std::string rule;
      for (std::size_t i = 0; i < size.width; ++i) rule += "─";
      lines.push_back(styled(Style::Dim, rule));
      for (std::size_t i = 0; i < sideHeight; ++i) {
        lines.push_back(i < side.size() ? painted(side[i], sideWidth) : std::string());
      }
    }
    for (const std::string& each : last) {
      const std::string text = paddedToWidth(each, size.width);
      lines.push_back(hasMessage() ? styled(Style::Bold, text) : styled(Style::Dim, text));
    }
    const std::size_t column = text::displayWidth(head);
    if (asking_) {
      Screen::draw(lines, lines.size() - 1, std::min(text::displayWidth(last.back()), size.width - 1));
    } else if (typing_) {
      Screen::draw(lines, 0, std::min(column, size.width - 1));
    } else {
      Screen::draw(lines, std::min(1 + rows_.place() - top_, lines.size() - 1), 0);
    }
  }

  [[nodiscard]] std::string listLine(std::size_t at, std::size_t width) const {
    if (at == 0 && rows_.shown().empty()) return painted({.text = emptyText(), .style = Style::Dim}, width);
    if (at >= rows_.shown().size()) return std::string(width, ' ');
    PickerLine line = source_.line(rows_.shown()[at]);
    line.text = (at == rows_.place() ? "> " : "  ") + line.text;
    if (at != rows_.place()) return painted(line, width);
    return "\033[7m" + paddedToWidth(line.text, width) + "\033[0m";
  }

  // Shown in place of the first row when there are no rows.
  [[nodiscard]] std::string emptyText() const {
    if (more_ || searching_) return "  searching …";
    return typed_.empty() ? "  nothing to choose from" : "  nothing matches; Ctrl-U clears it";
  }

  [[nodiscard]] std::string lastText(std::size_t width) const {
    if (asking_) return asking_->question + " " + (asking_->takesText ? text::printable(answer_) : "");
    if (!message_.empty()) return message_;
    std::vector<std::string> keys = {"Enter open", typing_ ? "Esc commands" : "/ filter · q quit"};
    for (const PickerAction& each : source_.actions()) {
      keys.push_back(fmt::format("{}{} {}", typing_ ? "Alt-" : "", each.key, each.name));
    }
    // If there is too little room, drop the last keys.
    const auto line = [&] { return fmt::format("{}", fmt::join(keys, " · ")); };
    while (keys.size() > 1 && text::displayWidth(line()) > width) keys.pop_back();
    return line();
  }

  [[nodiscard]] bool hasMessage() const { return asking_ || !message_.empty(); }

  // Questions and messages are shown whole if there is room; the keys take one line.
  [[nodiscard]] std::vector<std::string> lastLines(const Screen::Size& size) const {
    const std::string text = lastText(size.width);
    std::vector<std::string> lines = hasMessage() ? linesThatFit(text, size.width) : std::vector<std::string>{text};
    const std::size_t most = std::max<std::size_t>(size.height / 2, 1);
    // Of a long question keep the end, where the answer is typed.
    while (lines.size() > most) lines.erase(asking_ ? lines.begin() : lines.end() - 1);
    if (lines.empty()) lines.emplace_back();
    return lines;
  }

  PickerSource& source_;
  RowList rows_;
  std::string typed_;
  std::size_t top_ = 0;
  std::size_t listHeight_ = 1;
  std::optional<Picked> chosen_;
  std::optional<PickerAction> asking_;
  std::string answer_;
  std::string message_;
  bool typing_ = true;
  bool more_ = true;
  bool searching_ = false;
};

}  // namespace

std::optional<Picked> pickRow(PickerSource& source, std::size_t first) {
  return Picker(source, first).run();
}

bool canPick() {
  const char* kind = std::getenv("TERM");
  return stdinIsTerminal() && stdoutIsTerminal() && kind != nullptr && std::string_view(kind) != "dumb";
}

std::vector<std::string> linesThatFit(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  const std::string safe = text::withoutTabs(text::printableLines(text));
  for (std::string_view rest = safe; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string line = text::printable(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (text::displayWidth(line) > width && width > 0) {
      std::string_view part = text::cutToWidth(line, width);
      if (part.empty()) part = text::cutToGraphemes(line, 1);
      const std::size_t blank = part.rfind(' ');
      if (blank != std::string_view::npos && blank > part.size() / 2) part = part.substr(0, blank);
      const std::size_t taken = part.size();
      lines.emplace_back(part);
      line.erase(0, taken);
      line.erase(0, line.find_first_not_of(' '));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace bough::cli
