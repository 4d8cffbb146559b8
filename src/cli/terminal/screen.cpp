#include "cli/terminal/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

using Kind = Key::Kind;

constexpr int kKeyMs = 40;  // a key that sends several bytes sends them at once
constexpr int kEscapeKey = 0x1B;

volatile std::sig_atomic_t resized = 0;
volatile std::sig_atomic_t ended = 0;

void noteSignal(int number) {
  if (number == SIGWINCH) {
    resized = 1;
  } else {
    ended = number;
  }
}

Key plain(Kind kind) {
  return {.kind = kind, .text = {}};
}

// Returns the key for `ESC [ … final` or `ESC O final`.
Key keyOf(const std::string& parameters, int final) {
  switch (final) {
    case 'A': return plain(Kind::Up);
    case 'B': return plain(Kind::Down);
    case 'C': return plain(Kind::Right);
    case 'D': return plain(Kind::Left);
    case 'H': return plain(Kind::Home);
    case 'F': return plain(Kind::End);
    default: break;
  }
  if (final != '~') return plain(Kind::Resize);  // unknown key: ignored
  const std::string number = parameters.substr(0, parameters.find(';'));
  constexpr std::array<std::pair<std::string_view, Kind>, 7> kNumbers = {{{"1", Kind::Home},
                                                                          {"3", Kind::Delete},
                                                                          {"4", Kind::End},
                                                                          {"5", Kind::PageUp},
                                                                          {"6", Kind::PageDown},
                                                                          {"7", Kind::Home},
                                                                          {"8", Kind::End}}};
  for (const auto& [name, kind] : kNumbers) {
    if (name == number) return plain(kind);
  }
  return plain(Kind::Resize);
}

std::size_t sequenceBytes(int lead) {
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
}

}  // namespace

Screen::Screen() {
  resized = 0;
  ended = 0;
  struct sigaction action{};
  action.sa_handler = noteSignal;
  for (const int number : {SIGWINCH, SIGTERM, SIGHUP, SIGINT}) {
    Handler handler{.signal = number};
    if (::sigaction(number, &action, &handler.before) == 0) handlers_.push_back(handler);
  }
  enter();
}

// After restoring the terminal, passes a termination signal on to the previous handler.
Screen::~Screen() {
  leave();
  for (const Handler& each : handlers_) (void)::sigaction(each.signal, &each.before, nullptr);
  if (ended != 0) (void)::raise(ended);
}

void Screen::enter() {
  (void)::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  printText("\033[?1049h\033[?7l\033[?2004h");
}

void Screen::leave() const {
  printText("\033[?2004l\033[?7h\033[?25h\033[?1049l");
  (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

// Ctrl-Z: restores the terminal for the shell.
void Screen::stop() {
  leave();
  (void)::kill(::getpid(), SIGTSTP);
  enter();
}

Screen::Size Screen::size() {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {.width = found.ws_col, .height = found.ws_row};
}

bool Screen::hasInput() {
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

// Returns -1 when no byte arrived, and -2 when the terminal is gone.
int Screen::readByte(int waitMs) {
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int found = ::poll(&ready, 1, waitMs);
  if (found <= 0) return -1;
  unsigned char byte = 0;
  const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
  if (got == 1) return byte;
  return got < 0 && errno == EINTR ? -1 : -2;
}

Key Screen::decodeEscape() {
  int byte = readByte(kKeyMs);
  if (byte < 0) return plain(Kind::Escape);
  if (byte == 0x08 || byte == 0x7F) return {.kind = Kind::Control, .text = "w"};  // Alt-Backspace
  if (byte != '[' && byte != 'O') {
    return byte >= ' ' && byte < 0x7F ? Key{.kind = Kind::Alt, .text = std::string(1, static_cast<char>(byte))}
                                      : plain(Kind::Escape);
  }
  constexpr std::size_t kMost = 32;
  std::string parameters;
  while ((byte = readByte(kKeyMs)) >= 0 && parameters.size() < kMost) {
    if (byte == '~' && parameters == "200") return readPaste();
    if (byte >= 0x40 && byte <= 0x7E) return keyOf(parameters, byte);
    parameters += static_cast<char>(byte);
  }
  return plain(Kind::Resize);
}

// Line ends in pasted text are not Enter.
Key Screen::readPaste() {
  constexpr std::string_view kEnd = "\033[201~";
  constexpr int kPasteMs = 2'000;
  constexpr std::size_t kMost = 4'096;
  Key key{.kind = Kind::Paste, .text = {}};
  for (int byte = 0; !key.text.ends_with(kEnd) && (byte = readByte(kPasteMs)) >= 0;) {
    key.text += static_cast<char>(byte);
    if (key.text.size() > kMost + kEnd.size()) key.text.erase(kMost, 1);
  }
  if (key.text.ends_with(kEnd)) key.text.resize(key.text.size() - kEnd.size());
  for (char& c : key.text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  }
  return key;
}

Key Screen::next(int idleMs) {
  const int byte = kept_ >= 0 ? std::exchange(kept_, -1) : readByte(idleMs);
  if (ended != 0 || byte == -2) return plain(Kind::Closed);
  if (std::exchange(resized, 0) != 0) {
    kept_ = byte;  // a key that arrived together with the resize is the next one
    return plain(Kind::Resize);
  }
  if (byte < 0) return plain(Kind::Idle);
  switch (byte) {
    case '\r':
    case '\n': return plain(Kind::Enter);
    case '\t': return plain(Kind::Tab);
    case 0x08:
    case 0x7F: return plain(Kind::Backspace);
    case 0x1A: stop(); return plain(Kind::Resize);
    case kEscapeKey: return decodeEscape();
    default: break;
  }
  if (byte < ' ') return {.kind = Kind::Control, .text = std::string(1, static_cast<char>(byte + 'a' - 1))};
  Key key{.kind = Kind::Text, .text = std::string(1, static_cast<char>(byte))};
  for (std::size_t left = sequenceBytes(byte); left > 1; --left) {
    const int more = readByte(kKeyMs);
    if (more < 0) break;
    key.text += static_cast<char>(more);
  }
  return key;
}

void Screen::draw(const std::vector<std::string>& lines, std::size_t cursorRow, std::size_t cursorColumn) {
  std::string out = "\033[?25l\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += "\033[2K" + lines[i] + "\033[0m";  // erase first: after the last column nothing can be erased
    if (i + 1 < lines.size()) out += "\r\n";
  }
  out += "\033[J\033[" + std::to_string(cursorRow + 1) + ";" + std::to_string(cursorColumn + 1) + "H\033[?25h";
  printText(out);
}

}  // namespace bough::cli
