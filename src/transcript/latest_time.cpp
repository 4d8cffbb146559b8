// Finds when something was last said in a transcript, by its end alone.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_checked.h"
#include "base/text/timestamp.h"
#include "bough/transcript.h"
#include "transcript/source/json_line.h"

namespace bough {
namespace {

// One byte more than the lines to read: the end of the line before them.
constexpr std::size_t kEndBytes = (std::size_t{16} << 10) + 1;

// Returns the last bytes of a file, from the beginning of a line; empty when no line begins there.
std::string lastLines(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer must not block us.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  struct stat info{};
  const bool isFile = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const auto size = isFile ? static_cast<std::uint64_t>(info.st_size) : 0;
  const std::uint64_t begin = size - std::min<std::uint64_t>(size, kEndBytes);
  std::string bytes;
  bytes.resize_and_overwrite(static_cast<std::size_t>(size - begin), [&](char* data, std::size_t most) {
    const ssize_t got = most == 0 ? 0 : ::pread(descriptor, data, most, static_cast<off_t>(begin));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  });
  ::close(descriptor);
  if (begin == 0) return bytes;
  const std::size_t line = bytes.find('\n');
  return line == std::string::npos ? std::string() : bytes.substr(line + 1);
}

}  // namespace

std::optional<std::uint64_t> latestTimeAtEnd(const std::string& path) {
  const std::string bytes = lastLines(path);
  std::optional<std::uint64_t> latest;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    // Only a whole line is read, for its own time and not the time of something that it quotes.
    const auto time = json::findChecked(line, "timestamp");
    const auto timeMs = time ? parseTimestamp(transcript::timeText(*time)) : std::nullopt;
    if (timeMs) latest = std::max(latest.value_or(0), *timeMs);
  }
  return latest;
}

}  // namespace bough
