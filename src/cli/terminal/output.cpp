#include "cli/terminal/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/terminal.h"

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

std::recursive_mutex holding;  // a pager that cannot start is found out while something is printed, and prints again
bool held = false;             // what is printed waits here:
std::string waiting;

std::string* captured = nullptr;  // by an OutputCapture

void writeAll(int descriptor, std::string_view text) {
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
      // A reader that went away has what it wanted.
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

// The character at the beginning of `text`, when a terminal could act on it though it is valid in JSON; else 0.
unsigned hazardAt(std::string_view text, std::size_t& size) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  size = 1;
  if (byte(0) == 0x7F) return 0x7F;
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

// Outside strings JSON has none of these characters, so that replacing them everywhere keeps its meaning.
std::string safeJson(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    std::size_t size = 0;
    const unsigned hazard = hazardAt(json, size);
    if (hazard != 0) {
      out += fmt::format("\\u{:04x}", hazard);
    } else {
      size = 1;
      out += json.front();
    }
    json.remove_prefix(size);
  }
  return out;
}

std::string fittedOnStderr(std::string text) {
  return ::isatty(STDERR_FILENO) == 1 ? fitted(text, terminalWidth()) : std::move(text);
}

}  // namespace

void printText(std::string_view text) {
  const std::lock_guard lock(holding);
  if (held) {
    waiting.append(text);
  } else {
    writeAll(STDOUT_FILENO, text);
  }
}

void printUnheld(std::string_view text) {
  writeAll(STDOUT_FILENO, text);
}

void holdOutput() {
  const std::lock_guard lock(holding);
  held = true;
}

void releaseOutput() {
  const std::lock_guard lock(holding);
  held = false;
  writeAll(STDOUT_FILENO, waiting);
  waiting.clear();
}

void printLine(std::string_view line) {
  printText(std::string(line) + "\n");
}

void printJsonPart(std::string_view json) {
  printText(::isatty(STDOUT_FILENO) == 1 ? safeJson(json) : std::string(json));
}

void printJsonLine(std::string_view json) {
  printJsonPart(std::string(json) + "\n");
}

void printMessage(std::string_view line) {
  writeAll(STDERR_FILENO, fittedOnStderr(text::printableLines(line)) + "\n");
}

void printQuestion(std::string_view text) {
  writeAll(STDERR_FILENO, fittedOnStderr(std::string(text)) + "\n");
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
    std::string out;
    json::Writer writer(out);
    writer.beginObject().key("error").beginObject();
    writer.member("code", toString(error.code)).member("message", error.message).member("hint", error.hint);
    writer.member("retryable", error.retryable);
    if (!error.actualTail.empty()) writer.member("actualTail", error.actualTail);
    writer.endObject().endObject();
    writeAll(STDERR_FILENO, (::isatty(STDERR_FILENO) == 1 ? safeJson(out) : out) + "\n");
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
