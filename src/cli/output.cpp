#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/json_write.h"

namespace bough::cli {
namespace {

bool closed = false;

void writeAll(int descriptor, std::string_view text) {
  while (!text.empty() && !closed) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      closed = descriptor == STDOUT_FILENO;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

// The length of the UTF-8 character at the start of `text`; 0 when there is none.
std::size_t characterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
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
  printMessage(fmt::format("bough: {}", printable(error.message)));
  if (!error.hint.empty()) printMessage(fmt::format("  → {}", printable(error.hint)));
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == limit) return out + "…";
    const std::size_t length = characterBytes(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool c1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0) {
      out += "\uFFFD";
    } else if (first == '\n' || first == '\t') {
      out += ' ';
    } else if (first < 0x20) {
      // The control pictures block shows each as one visible character.
      out += "\xE2\x90";
      out += static_cast<char>(0x80 + first);
    } else if (first == 0x7F || c1) {
      out += "\uFFFD";
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
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
