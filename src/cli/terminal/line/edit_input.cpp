#include "cli/terminal/line/edit_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cwchar>
#include <cwctype>
#include <string>
#include <utility>

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

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Ignores $COLUMNS, because libedit asks the terminal itself.
Size sizeNow() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col <= 1) return {};
  return {.columns = size.ws_col, .rows = std::max<std::size_t>(size.ws_row, 1)};
}

std::size_t columnsNow() {
  return sizeNow().columns;
}

// Erases everything from the cursor on. Erases the cursor's row separately: a terminal that erases the whole screen
// from its first cell on keeps the old content in its history, and shows it again when it becomes wider.
constexpr std::string_view kEraseBelow = "\0337\033[K\033[1B\r\033[J\0338";

// Returns true when the terminal reflows its lines after a change of width. All do except xterm and the Linux console.
bool reflowsLines() {
  if (std::getenv("TMUX") != nullptr) return true;
  const char* terminal = std::getenv("TERM");
  return std::getenv("XTERM_VERSION") == nullptr && (terminal == nullptr || std::string_view(terminal) != "linux");
}

std::string rowsUp(std::size_t rows) {
  return rows > 0 ? fmt::format("\r\033[{}A", rows) : std::string("\r");
}

bool isInputWaiting() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0;
}

// A character as libedit and the C library see it.
struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;  // the columns of each character in `shown`
  std::string shown = "?";  // ^X or \U+1FAE8 for a character that cannot be printed
  bool isPrintable = false;
};

// Returns the first character of `text`, which must not be empty. An invalid byte counts as a character.
Character characterAt(std::string_view text) {
  std::mbstate_t state{};
  wchar_t value = 0;
  const std::size_t bytes = std::mbrtowc(&value, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};
  const auto code = static_cast<std::uint32_t>(value);
  if (std::iswprint(static_cast<std::wint_t>(value)) != 0) {
    const auto columns = static_cast<std::size_t>(std::max(::wcwidth(value), 0));
    return {.bytes = bytes, .columns = columns, .shown = std::string(text.substr(0, bytes)), .isPrintable = true};
  }
  if (code < 0x100) return {.bytes = bytes, .shown = fmt::format("^{}", static_cast<char>((code & 0x7F) ^ 0x40))};
  return {.bytes = bytes, .shown = fmt::format("\\U+{:04X}", code)};
}

// Whether a text has characters that take no column, or two.
struct Widths {
  bool none = false;
  bool two = false;
};

Widths widthsIn(std::string_view text) {
  Widths found;
  while (!text.empty()) {
    const Character next = characterAt(text);
    found.none = found.none || next.columns == 0;
    found.two = found.two || next.columns == 2;
    text.remove_prefix(next.bytes);
  }
  return found;
}

// Text broken into rows like libedit does it: after a full row, libedit's cursor is at the beginning of the next row,
// while the terminal's cursor moves there only with the next character.
struct Layout {
  std::size_t rows = 0;  // rows above the end
  std::size_t column = 0;
  bool isFull = false;       // the end is right after a full row
  bool endsInBlank = false;  // a row before the last one ends in a blank
  std::string drawn{};       // the output that draws it
};

class Rows {
 public:
  explicit Rows(std::size_t width) : width_(width) {}

  void add(std::string_view text) {
    while (!text.empty()) {
      const char first = text.front();
      if (first == '\n') {
        out_.drawn += out_.isFull ? "\r\n\r\n" : "\r\n";
        begin(/*isFull=*/false);
        text.remove_prefix(1);
      } else if (first == '\t') {
        do put(" ", 1);
        while (out_.column % 8 != 0);
        text.remove_prefix(1);
      } else {
        const Character next = characterAt(text);
        putAll(next);
        text.remove_prefix(next.bytes);
      }
    }
  }
  // Returns the row of libedit's cursor if the text `following` comes next: a wide character that does not fit takes
  // the cursor to the next row.
  [[nodiscard]] std::size_t cursorRow(std::string_view following) const {
    const bool isNext = !following.empty() && following.front() != '\n' && following.front() != '\t' &&
                        out_.column + characterAt(following).columns > width_;
    return out_.rows + (isNext ? 1 : 0);
  }
  [[nodiscard]] const Layout& layout() const { return out_; }

 private:
  void begin(bool isFull) {
    ++out_.rows;
    out_.column = 0;
    out_.isFull = isFull;
  }
  void put(std::string_view shown, std::size_t columns) {
    if (out_.column + columns > width_) {
      out_.endsInBlank = true;  // libedit writes a blank where half of a wide character would fit
      begin(/*isFull=*/false);
    }
    out_.drawn += shown;
    out_.column += columns;
    if (columns > 0) out_.isFull = false;
    if (out_.column < width_) return;
    out_.endsInBlank = out_.endsInBlank || shown == " ";
    begin(/*isFull=*/true);
  }
  void putAll(const Character& next) {
    if (next.isPrintable) return put(next.shown, next.columns);
    for (const char& c : next.shown) put({&c, 1}, 1);
  }

  std::size_t width_;
  Layout out_;
};

Layout layoutOf(std::string_view text, std::size_t width) {
  Rows rows(width);
  rows.add(text);
  return rows.layout();
}

}  // namespace

std::string unjoined(std::string_view utf8) {
  constexpr std::string_view kColors = "\xF0\x9F\x8F";  // U+1F3FB to U+1F3FF without the last byte
  constexpr std::string_view kSwatch = "\U0001F7EB";    // as wide as the color alone
  std::string out;
  while (!utf8.empty()) {
    const std::size_t plain = std::min({utf8.find("\u200D"), utf8.find("\uFE0F"), utf8.find(kColors), utf8.size()});
    out += utf8.substr(0, plain);
    utf8.remove_prefix(plain);
    if (!utf8.starts_with(kColors)) {
      utf8.remove_prefix(std::min<std::size_t>(3, utf8.size()));
      continue;
    }
    const std::string_view character = utf8.substr(0, 4);
    out += character.size() == 4 && static_cast<unsigned char>(character[3]) >= 0xBB ? kSwatch : character;
    utf8.remove_prefix(character.size());
  }
  return out;
}

std::FILE* openEditOutput() {
  // libedit flushes only after whole characters.
  const auto write = [](void*, const char* bytes, std::size_t size) -> ssize_t {
    printText(unjoined({bytes, size}));
    (void)std::fflush(stdout);
    return static_cast<ssize_t>(size);
  };
  std::FILE* file = ::fopencookie(nullptr, "w", {.read = nullptr, .write = write, .seek = nullptr, .close = nullptr});
  constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
  if (file != nullptr) (void)std::setvbuf(file, nullptr, _IOFBF, kBufferBytes);
  return file;
}

std::size_t rowsBeforeEnd(std::string_view text, std::size_t width) {
  return layoutOf(text, width).rows;
}

bool hasRowEndingInBlank(std::string_view text, std::size_t width) {
  return layoutOf(text, width).endsInBlank;
}

EditInput::EditInput(EditLine* edit, std::string_view redrawn) : edit_(edit), redrawn_(redrawn), width_(columnsNow()) {
  windowChanged = 0;
  continued = 0;
  theInput = this;
  struct sigaction action{};
  action.sa_handler = onChange;  // without SA_RESTART: the read ends, and the line is redrawn at once
  (void)::sigaction(SIGWINCH, &action, &beforeResize_);
  (void)::sigaction(SIGCONT, &action, &beforeStop_);
}

EditInput::~EditInput() {
  (void)::sigaction(SIGWINCH, &beforeResize_, nullptr);
  (void)::sigaction(SIGCONT, &beforeStop_, nullptr);
  theInput = nullptr;
}

std::string EditInput::drawnUntil(const char* end) const {
  char* (*prompt)(EditLine*) = nullptr;
  el_get(edit_, EL_PROMPT, &prompt, nullptr);
  return (prompt == nullptr ? std::string() : std::string(prompt(edit_))) +
         unjoined({el_line(edit_)->buffer, static_cast<std::size_t>(end - el_line(edit_)->buffer)});
}

// libedit draws a line of cells. A combining mark has no cell and is left out, and when libedit moves part of a long
// line it counts a wide character as one column. Moreover, a terminal reflows text as one line only if it was written
// as one; but after a row that ends in a blank, libedit begins the next row with a line end. In all these cases this
// function writes the same text again over the old one, as one line with its marks. Wide characters that were only
// added at the end have moved nothing, so they need no second drawing; and a terminal whose width has changed meanwhile
// keeps its rows.
void EditInput::redrawOver() {
  if (isInputWaiting()) return;
  const LineInfo* line = el_line(edit_);
  const std::string whole = drawnUntil(line->lastchar);
  const bool hasGrown = !lineAtEnd_.empty() && line->cursor == line->lastchar && whole.starts_with(lineAtEnd_);
  lineAtEnd_ = line->cursor == line->lastchar ? whole : std::string();
  const Widths widths = widthsIn(whole);
  if (!widths.none && !(widths.two && !hasGrown) && !(reflowsLines() && hasRowEndingInBlank(whole, width_))) return;
  const Layout all = layoutOf(whole, width_);
  if (all.rows >= sizeNow().rows) return;  // the beginning has left the screen
  const std::string before = drawnUntil(line->cursor);
  Rows beginning(width_);
  beginning.add(before);
  const std::size_t cursorRow = beginning.cursorRow(std::string_view(whole).substr(before.size()));
  const Layout& begin = beginning.layout();
  const bool isInLaterRow = cursorRow > begin.rows - (begin.isFull ? 1 : 0);
  // Erase first, because libedit may have moved halves of wide characters. The blank after the text moves the
  // terminal's cursor out of a full row. At the cursor's place a blank could overwrite text, so there the cursor moves
  // down instead.
  printText(fmt::format("{}{}{} {}{}{}", rowsUp(cursorRow), kEraseBelow, all.drawn, rowsUp(all.rows), begin.drawn,
                        isInLaterRow ? "\r\033[1B" : ""));
}

void EditInput::redraw() {
  const std::size_t width = columnsNow();
  const LineInfo* line = el_line(edit_);
  std::string out;
  if (continued != 0) {
    // The shell has written meanwhile and may have changed the terminal's modes.
    el_set(edit_, EL_PREP_TERM, 0);
    el_set(edit_, EL_PREP_TERM, 1);
    out = fmt::format("{}\r", redrawn_);
  } else {
    out = rowsUp(rowsBeforeEnd(drawnUntil(line->cursor), reflowsLines() ? width : width_));
  }
  printText(out + std::string(kEraseBelow));
  continued = 0;
  windowChanged = 0;
  width_ = width;
  lineAtEnd_.clear();
  el_resize(edit_);
  el_set(edit_, EL_REFRESH);
}

// At the end of a line, libedit shows a typed character at once and counts it as one or two columns. So a combining
// mark is passed as a key that inserts it, after which libedit looks at the whole line.
int EditInput::markAsKey(EditLine* edit, wchar_t* character) {
  const bool isMark = *character > 0x7F && ::wcwidth(*character) == 0;
  if (!isMark || theInput == nullptr || theInput->edit_ != edit || theInput->isPasting_) return 1;
  theInput->mark_ = *character;
  *character = kMarkKey.front();
  el_push(edit, kMarkKey.data() + 1);
  return 1;
}

unsigned char EditInput::insertMark(EditLine* edit, int) {
  if (theInput == nullptr || theInput->mark_ == 0) return CC_ERROR;
  const std::array<wchar_t, 2> text = {std::exchange(theInput->mark_, 0), 0};
  return el_winsertstr(edit, text.data()) == 0 ? CC_REFRESH : CC_ERROR;
}

void EditInput::setPasting(bool isPasting) {
  if (theInput != nullptr) theInput->isPasting_ = isPasting;
}

int EditInput::next(EditLine* edit, wchar_t* character) {
  std::mbstate_t state{};
  for (;;) {
    if (theInput != nullptr && theInput->edit_ == edit && (windowChanged != 0 || continued != 0)) theInput->redraw();
    if (theInput != nullptr && theInput->edit_ == edit) theInput->redrawOver();
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR && (windowChanged != 0 || continued != 0)) continue;
    if (got <= 0) return static_cast<int>(got);
    // The key arrived together with a new width; redraw first, or the key would be drawn for the old width.
    if (theInput != nullptr && theInput->edit_ == edit && columnsNow() != theInput->width_) theInput->redraw();
    const std::size_t size = std::mbrtowc(character, &byte, 1, &state);
    if (size == static_cast<std::size_t>(-2)) continue;  // more bytes of the character follow
    if (size != static_cast<std::size_t>(-1)) return markAsKey(edit, character);
    state = {};  // bytes that are not text
  }
}

}  // namespace bough::cli
