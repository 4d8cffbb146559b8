#include "cli/terminal/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli {
namespace {

bool closed = false;
int failure = 0;

struct Watch {
  std::string* copy = nullptr;
  std::size_t most = 0;
  std::function<bool()> recover;
};
Watch watch;

std::recursive_mutex printing;  // recursive, because a print may discover that the pager cannot start, and then prints
                                // again

// The line that is kept below the output. The terminal remembers where the output ended, but only until its size
// changes or the shell writes to it while the program is stopped.
struct Footer {
  bool shown = false;
  std::string line;
  Screen::Size size;
  struct sigaction beforeStop{};
};
Footer footer;
volatile std::sig_atomic_t wasStopped = 0;

std::string* captured = nullptr;  // the target of an OutputCapture

void writeOut(int descriptor, std::string_view text) {
  if (descriptor == STDOUT_FILENO && captured != nullptr) {
    captured->append(text);
    return;
  }
  while (!text.empty() && !(closed && descriptor == STDOUT_FILENO)) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      if (descriptor != STDOUT_FILENO) return;
      if (errno == EPIPE && watch.recover && watch.recover()) continue;
      closed = true;
      // A reader that closed the pipe has all it wanted; this is not a failure.
      failure = errno == EPIPE ? 0 : errno;
      return;
    }
    const std::string_view written = text.substr(0, static_cast<std::size_t>(put));
    if (descriptor == STDOUT_FILENO && watch.copy != nullptr && watch.copy->size() < watch.most) {
      watch.copy->append(written.substr(0, watch.most - watch.copy->size()));
    }
    text.remove_prefix(written.size());
  }
}

// Returns the character at the beginning of `text` if it is valid in JSON but a terminal could act on it; otherwise 0.
unsigned unsafeCharacterAt(std::string_view text, std::size_t& size) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  size = 1;
  if (byte(0) == 0x7F) return 0x7F;
  // Valid JSON has no raw control characters, but a line stored by another program may be invalid.
  if (!text.empty() && byte(0) < 0x20 && byte(0) != '\t' && byte(0) != '\n' && byte(0) != '\r') return byte(0);
  size = 2;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return byte(1);
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 0x061C;
  size = 3;
  if (byte(0) != 0xE2 || (byte(1) != 0x80 && byte(1) != 0x81)) return 0;
  const unsigned character = 0x2000U + (byte(1) - 0x80U) * 0x40U + (byte(2) & 0x3FU);
  const bool turns = character == 0x200E || character == 0x200F || (character >= 0x2028 && character <= 0x202E) ||
                     (character >= 0x2066 && character <= 0x2069);
  return turns ? character : 0;
}

// Outside of strings, JSON contains none of these characters, so replacing them everywhere keeps its meaning.
std::string safeJson(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    std::size_t size = 0;
    const unsigned unsafe = unsafeCharacterAt(json, size);
    if (unsafe != 0) {
      out += fmt::format("\\u{:04x}", unsafe);
    } else {
      size = 1;
      out += json.front();
    }
    json.remove_prefix(size);
  }
  return out;
}

// Returns the first place in `text` with a DEL, a C1 control or a mark that changes the writing direction, and its
// size.
std::size_t findUnsafe(std::string_view text, std::size_t& size) {
  for (std::size_t at = 0; (at = text.find_first_of("\x7F\xC2\xE2", at)) != std::string_view::npos; ++at) {
    const unsigned found = unsafeCharacterAt(text.substr(at), size);
    const bool turns = (found >= 0x202A && found <= 0x202E) || (found >= 0x2066 && found <= 0x2069);
    if (turns || (found >= 0x7F && found < 0xA0)) return at;
  }
  return std::string_view::npos;
}

// The last guard before a terminal, for any text: replaces characters that a terminal could act on, like
// text::printable. Sequences that begin with ESC are our own here.
std::string shownText(std::string_view text) {
  std::string out;
  for (std::size_t at = 0, size = 0; (at = findUnsafe(text, size)) != std::string_view::npos;) {
    out += text.substr(0, at);
    out += size == 1 ? "\u2421" : "\uFFFD";
    text.remove_prefix(at + size);
  }
  return out += text;
}

// Makes room below, scrolling if necessary, and lets the terminal remember the place above with its colors.
std::string withFooter() {
  footer.size = Screen::size();
  return "\033D\033[A\0337\033[B\r\033[0m\033[K" + footer.line;
}

// If the terminal no longer remembers the place, printing continues at the cursor.
std::string withoutFooter() {
  const Screen::Size now = Screen::size();
  const bool isSame = wasStopped == 0 && now.width == footer.size.width && now.height == footer.size.height;
  wasStopped = 0;
  return isSame ? "\r\033[K\0338" : "\r\033[K";
}

void writeAbove(int descriptor, std::string_view text) {
  if (!footer.shown) return writeOut(descriptor, text);
  const std::string before = withoutFooter();
  writeOut(descriptor, before + std::string(text) + withFooter());
}

std::string wrappedForStderr(std::string text) {
  return ::isatty(STDERR_FILENO) == 1 ? wrappedText(text, terminalWidth()) : std::move(text);
}

}  // namespace

void printText(std::string_view text) {
  const std::lock_guard lock(printing);
  std::size_t size = 0;
  const bool isSafe = captured != nullptr || !stdoutIsTerminal() || findUnsafe(text, size) == std::string_view::npos;
  isSafe ? writeAbove(STDOUT_FILENO, text) : writeAbove(STDOUT_FILENO, shownText(text));
}

void printCodes(std::string_view codes) {
  const std::lock_guard lock(printing);
  writeOut(STDOUT_FILENO, codes);
}

void showFooter(std::string_view line) {
  const std::lock_guard lock(printing);
  std::string before;
  if (footer.shown) {
    before = withoutFooter();
  } else {
    wasStopped = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { wasStopped = 1; };
    action.sa_flags = SA_RESTART;
    (void)::sigaction(SIGCONT, &action, &footer.beforeStop);
  }
  footer.shown = true;
  footer.line = line;
  writeOut(STDOUT_FILENO, before + withFooter());
}

void hideFooter() {
  const std::lock_guard lock(printing);
  if (!footer.shown) return;
  writeOut(STDOUT_FILENO, withoutFooter());
  footer.shown = false;
  (void)::sigaction(SIGCONT, &footer.beforeStop, nullptr);
}

void printLine(std::string_view line) {
  printText(std::string(line) + "\n");
}

void printJsonPart(std::string_view json) {
  stdoutIsTerminal() ? printText(safeJson(json)) : printText(json);
}

void printJsonLine(std::string_view json) {
  constexpr std::size_t kLongBytes = std::size_t{1} << 20;  // Longer JSON is not worth copying just to write it in one
                                                            // call.
  if (json.size() < kLongBytes) return printJsonPart(std::string(json) + "\n");
  printJsonPart(json);
  printText("\n");
}

void printMessage(std::string_view line) {
  const std::lock_guard lock(printing);
  const std::string text = wrappedForStderr(text::printableLines(line)) + "\n";
  ::isatty(STDERR_FILENO) == 1 ? writeAbove(STDERR_FILENO, text) : writeOut(STDERR_FILENO, text);
}

void printQuestion(std::string_view text) {
  writeOut(STDERR_FILENO, wrappedForStderr(std::string(text)) + "\n");
}

void watchOutput(std::string* copy, std::size_t most, std::function<bool()> recover) {
  watch = {.copy = copy, .most = most, .recover = std::move(recover)};
}

void unwatchOutput() {
  watch = {};
}

OutputCapture::OutputCapture() {
  captured = &text_;
}

OutputCapture::~OutputCapture() {
  captured = nullptr;
}

bool outputClosed() {
  return closed;
}

std::optional<Error> outputFailure() {
  if (failure == 0) return std::nullopt;
  return Error{.code = failure == ENOSPC || failure == EDQUOT ? ErrorCode::NoSpace : ErrorCode::Io,
               .message = fmt::format("cannot write the output: {}", std::strerror(failure)),
               .hint = "the printed output is incomplete",
               .retryable = false,
               .actualTail = {}};
}

void reopenOutput() {
  closed = false;
  failure = 0;
}

void printError(const Error& error, bool json) {
  if (json) {
    json::Writer writer;
    writer.beginObject().key("error").beginObject();
    writer.member("code", toString(error.code)).member("message", error.message).memberOrNull("hint", error.hint);
    writer.member("retryable", error.retryable);
    if (!error.actualTail.empty()) writer.member("actualTail", error.actualTail);
    writer.endObject().endObject();
    writeOut(STDERR_FILENO, (::isatty(STDERR_FILENO) == 1 ? safeJson(writer.text()) : writer.text()) + "\n");
    return;
  }
  printMessage(fmt::format("bough: {}", text::printableLines(error.message)));
  if (!error.hint.empty()) printMessage(fmt::format("  → {}", text::printable(error.hint)));
}

ExitCode refuseData(const Error& error, bool json) {
  printError(error, json);
  return kProblem;
}

std::string formatBytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace bough::cli
