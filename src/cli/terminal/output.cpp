#include "cli/terminal/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json_write.h"
#include "base/text.h"

namespace bough::cli {
namespace {

bool closed = false;
int failure = 0;

void writeAll(int descriptor, std::string_view text) {
  while (!text.empty() && !(closed && descriptor == STDOUT_FILENO)) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      if (descriptor != STDOUT_FILENO) return;
      closed = true;
      // A reader that went away has what it wanted.
      failure = errno == EPIPE ? 0 : errno;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace

void printText(std::string_view text) {
  writeAll(STDOUT_FILENO, text);
}

void printLine(std::string_view line) {
  printText(std::string(line) + "\n");
}

void printMessage(std::string_view line) {
  writeAll(STDERR_FILENO, std::string(line) + "\n");
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
    printMessage(out);
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
