#include "cli/terminal/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/text/text.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

std::string_view environmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view colorChoice = "auto";

// With 256 colors, we use those that are readable on black and on white; with fewer, the terminal's own colors. A
// terminal that calls itself xterm has 256 colors whatever its name says, and may be white, where its own yellow is
// unreadable.
bool hasManyColors() {
  constexpr std::string_view kFewColors[] = {"linux", "ansi", "vt", "cons", "cygwin", "dumb", "sun"};
  const std::string_view terminal = environmentValue("TERM");
  if (terminal.find("256color") != std::string_view::npos || !environmentValue("COLORTERM").empty()) return true;
  const auto isBeginning = [&](std::string_view each) { return terminal.starts_with(each); };
  return !terminal.empty() && std::ranges::none_of(kFewColors, isBeginning);
}

std::string_view readableCodeOf(Style style) {
  switch (style) {
    case Style::Red: return "38;5;160";
    case Style::Green: return "38;5;28";
    case Style::Yellow: return "38;5;130";
    case Style::Magenta: return "38;5;133";
    case Style::Cyan: return "38;5;30";
    default: return {};
  }
}

std::string_view codeOf(Style style) {
  if (const std::string_view code = readableCodeOf(style); !code.empty() && hasManyColors()) return code;
  switch (style) {
    case Style::Bold: return "1";
    case Style::Dim: return "2";
    case Style::Red: return "31";
    case Style::Green: return "32";
    case Style::Yellow: return "33";
    case Style::Magenta: return "35";
    case Style::Cyan: return "36";
    case Style::Italic: return "3";
    case Style::Underline: return "4";
    case Style::Strike: return "9";
  }
  return "0";
}

// The exit codes of a shell that cannot run a command, or does not find it.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
// More than a pipe holds: output beyond this was read by the pager.
constexpr std::size_t kPipeBytes = std::size_t{1} << 20;

std::int64_t steadyMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

// Returns the pager's command line; empty for none. A terminal that cannot move its cursor has no pager.
std::string pagerCommand() {
  const char* chosen = std::getenv("PAGER");
  const std::string_view terminal = environmentValue("TERM");
  if (chosen == nullptr && (terminal.empty() || terminal == "dumb")) return {};
  const std::string pager = chosen == nullptr ? "command -v less >/dev/null && exec less -FRX; exec cat" : chosen;
  if (pager.empty() || pager == "cat") return {};
  // Our output is UTF-8 in every locale; in the C locale, less would show the bytes. Like other programs, we tell less
  // to show colors and to leave short texts on the screen, unless the user has set it otherwise.
  return "export LESSCHARSET=\"${LESSCHARSET-utf-8}\" LESS=\"${LESS-FRX}\"; " + pager;
}

}  // namespace

bool stdoutIsTerminal() {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return terminal;
}

bool stdinIsTerminal() {
  static const bool terminal = ::isatty(STDIN_FILENO) == 1;
  return terminal;
}

std::size_t terminalWidth() {
  constexpr std::size_t kDefault = 80;
  const std::string_view columns = environmentValue("COLUMNS");
  std::size_t width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (width > 0) return width;
  winsize size{};
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return kDefault;
}

void useColors(std::string_view when) {
  colorChoice = when == "always" ? "always" : when == "never" ? "never" : "auto";
}

bool colorsAreUsed() {
  if (colorChoice != "auto") return colorChoice == "always";
  if (!environmentValue("NO_COLOR").empty()) return false;
  const std::string_view forced = environmentValue("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") return true;
  if (environmentValue("CLICOLOR") == "0") return false;
  const std::string_view terminal = environmentValue("TERM");
  return stdoutIsTerminal() && !terminal.empty() && terminal != "dumb";
}

std::string styled(Style style, std::string_view text) {
  return colorsAreUsed() && !text.empty() ? fmt::format("\033[{}m{}\033[0m", codeOf(style), text) : std::string(text);
}

Pager::Pager(bool wanted) {
  const std::string command = pagerCommand();
  if (!wanted || !stdoutIsTerminal() || command.empty()) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    std::signal(SIGPIPE, SIG_DFL);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  if (process_ > 0) {
    savedStdout_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(ends[1], STDOUT_FILENO);
    watchOutput(&copy_, kPipeBytes, [this] { return recover(); });
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

Pager::~Pager() {
  if (process_ <= 0) return;
  if (savedStdout_ >= 0) {
    ::dup2(savedStdout_, STDOUT_FILENO);
    ::close(savedStdout_);
    savedStdout_ = -1;
    // If the pager never started, show what is still in its pipe.
    if (wait() == kCannotRun || status_ == kNotFound) {
      unwatchOutput();
      printText(copy_);
    }
  }
  unwatchOutput();
}

int Pager::wait() {
  int status = 0;
  while (status_ < 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  if (status_ < 0) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return status_;
}

// Called when the pager stops reading. If it never started, we print to the terminal ourselves; otherwise the user has
// quit it.
bool Pager::recover() {
  if (savedStdout_ < 0 || (wait() != kCannotRun && status_ != kNotFound)) return false;
  ::dup2(savedStdout_, STDOUT_FILENO);
  ::close(savedStdout_);
  savedStdout_ = -1;
  const std::string begun = std::move(copy_);
  unwatchOutput();
  printText(begun);
  return true;
}

Progress::Progress(std::string label, std::uint64_t total) : label_(std::move(label)), total_(total) {
  shown_ = ::isatty(STDERR_FILENO) == 1 && environmentValue("TERM") != "dumb";
}

Progress::~Progress() {
  if (shown_ && drawnMs_ != 0) fmt::print(stderr, "\r\033[K");
}

void Progress::update(std::uint64_t done) {
  constexpr std::int64_t kIntervalMs = 100;
  done_ = done;
  if (!shown_) return;
  const std::int64_t now = steadyMs();
  if (drawnMs_ != 0 && now - drawnMs_ < kIntervalMs && done_ != total_) return;
  drawnMs_ = now;
  draw();
}

void Progress::draw() const {
  // A line longer than the terminal could not be erased again.
  const std::size_t width = terminalWidth();
  if (total_ == 0) {
    fmt::print(stderr, "\r{}\033[K", text::excerptToWidth(fmt::format("{} {}", label_, done_), width - 1));
    return;
  }
  const std::size_t around = text::displayWidth(label_) + 8;
  const std::size_t cells = width > around ? std::min<std::size_t>(30, width - around) : 0;
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string bar;
  for (std::size_t cell = 0; cell < cells; ++cell) bar += cell < filled ? "█" : "░";
  const std::string line = fmt::format("{} {} {:3.0f}%", label_, bar, share * 100);
  fmt::print(stderr, "\r{}\033[K", cells > 0 ? line : text::excerptToWidth(line, width - 1));
}

}  // namespace bough::cli
