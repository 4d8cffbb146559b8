#include "cli/terminal/line/edit_input.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cwchar>
#include <string>

#include "base/text/text.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

volatile std::sig_atomic_t windowChanged = 0;
volatile std::sig_atomic_t continued = 0;
EditInput* theInput = nullptr;

void onChange(int number) {
  if (number == SIGWINCH) {
    windowChanged = 1;
  } else {
    continued = 1;
  }
}

// Not $COLUMNS: libedit asks the terminal itself.
std::size_t columnsNow() {
  winsize size{};
  constexpr std::size_t kDefault = 80;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kDefault;
}

// Whether the terminal breaks the lines that it shows again when its width changes. All do but xterm and the console.
bool breaksLinesAgain() {
  if (std::getenv("TMUX") != nullptr) return true;
  const char* terminal = std::getenv("TERM");
  return std::getenv("XTERM_VERSION") == nullptr && (terminal == nullptr || std::string_view(terminal) != "linux");
}

}  // namespace

std::size_t rowsBeforeEnd(std::string_view text, std::size_t width) {
  std::size_t rows = 0;
  std::size_t column = 0;
  while (!text.empty()) {
    if (text.front() == '\n') {
      ++rows;
      column = 0;
      text.remove_prefix(1);
      continue;
    }
    // At most one character of two columns; one that takes no column goes with it.
    const std::string_view next = text.substr(0, std::max<std::size_t>(text::cutToGraphemes(text, 1).size(), 1));
    const std::size_t columns = text::displayWidth(next);
    if (column + columns > width) {
      ++rows;
      column = 0;
    }
    column += columns;
    text.remove_prefix(next.size());
  }
  // After a full row the cursor is at the beginning of the next one.
  return rows + (column == width ? 1 : 0);
}

EditInput::EditInput(EditLine* edit, std::string_view redrawn) : edit_(edit), redrawn_(redrawn), width_(columnsNow()) {
  windowChanged = 0;
  continued = 0;
  theInput = this;
  struct sigaction action{};
  action.sa_handler = onChange;  // without SA_RESTART: the read ends, and the line is drawn at once
  (void)::sigaction(SIGWINCH, &action, &beforeResize_);
  (void)::sigaction(SIGCONT, &action, &beforeStop_);
}

EditInput::~EditInput() {
  (void)::sigaction(SIGWINCH, &beforeResize_, nullptr);
  (void)::sigaction(SIGCONT, &beforeStop_, nullptr);
  theInput = nullptr;
}

// What the terminal breaks again on its own, it breaks as one line only if it was written as one. libedit does not
// write a blank at the end of a row, so the whole line is written here first, and libedit draws over it.
void EditInput::redraw() {
  const std::size_t width = columnsNow();
  char* (*prompt)(EditLine*) = nullptr;
  el_get(edit_, EL_PROMPT, &prompt, nullptr);
  const LineInfo* line = el_line(edit_);
  const std::string begin = prompt == nullptr ? std::string() : std::string(prompt(edit_));
  const auto up = [](std::size_t rows) { return rows > 0 ? fmt::format("\r\033[{}A", rows) : std::string("\r"); };
  std::string out;
  if (continued != 0) {
    // The shell has written meanwhile, and it may have set the terminal for itself.
    el_set(edit_, EL_PREP_TERM, 0);
    el_set(edit_, EL_PREP_TERM, 1);
    out = fmt::format("{}\r", redrawn_);
  } else {
    const std::string before = begin + std::string(line->buffer, line->cursor);
    out = up(rowsBeforeEnd(before, breaksLinesAgain() ? width : width_));
  }
  out += "\033[J";
  const std::string whole = begin + std::string(line->buffer, line->lastchar);
  for (const char c : whole) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  printText(out + " " + up(rowsBeforeEnd(whole, width)));  // the blank leaves a row that is full
  continued = 0;
  windowChanged = 0;
  width_ = width;
  el_resize(edit_);
  el_set(edit_, EL_REFRESH);
}

int EditInput::next(EditLine* edit, wchar_t* character) {
  std::mbstate_t state{};
  for (;;) {
    if (theInput != nullptr && theInput->edit_ == edit && (windowChanged != 0 || continued != 0)) theInput->redraw();
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR && (windowChanged != 0 || continued != 0)) continue;
    if (got <= 0) return static_cast<int>(got);
    const std::size_t size = std::mbrtowc(character, &byte, 1, &state);
    if (size == static_cast<std::size_t>(-2)) continue;  // more bytes of it follow
    if (size != static_cast<std::size_t>(-1)) return 1;
    state = {};  // bytes that are not text
  }
}

}  // namespace bough::cli
