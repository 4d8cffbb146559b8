#include "cli/terminal/input.h"
#include "base/try.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bough/entry.h"

namespace bough::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

// Like read(2), but also waits when the descriptor is non-blocking.
ssize_t readOrWait(char* out, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, out, size);
    if (got >= 0 || errno != EAGAIN) return got;
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, -1) < 0) return -1;
  }
}

}  // namespace

std::string inputPlace(std::uint64_t line, std::uint64_t offset) {
  return fmt::format("line {} of the input (byte {})", line, offset);
}

Input::Input(std::uint64_t maxBytes, std::function<bool()> stopped)
    : maxBytes_(maxBytes),
      stopped_(std::move(stopped)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

// Returns the current line and byte offset, for messages.
std::string Input::place() const {
  return inputPlace(lineCount_ + 1, readBytes_);
}

std::unexpected<Error> Input::failed(int number) const {
  return fail(ErrorCode::Io, fmt::format("{} cannot be read: {}", place(), std::strerror(number)),
              "check where stdin comes from");
}

// Reads more once the buffer is used up. Returns false at the end.
Result<bool> Input::fill() {
  begin_ = end_ = 0;
  ssize_t got = 0;
  while ((got = readOrWait(buffer_.get(), kBufferBytes)) < 0) {
    if (errno != EINTR) return failed(errno);
    if (stopped_ && stopped_()) return false;
  }
  end_ = static_cast<std::size_t>(got);
  readBytes_ += end_;
  if (readBytes_ <= maxBytes_) return end_ > 0;
  return fail(ErrorCode::InvalidArgument, fmt::format("{}: the input is larger than {} GiB", place(), maxBytes_ >> 30),
              "give it in parts");
}

Result<std::optional<Input::Line>> Input::nextLine() {
  line_.clear();
  const std::uint64_t offset = readBytes_ - unread().size();
  for (bool ended = false; !ended;) {
    if (unread().empty()) {
      BOUGH_TRY(const auto more, fill());
      if (!more && line_.empty()) return std::nullopt;
      if (!more) break;
    }
    const std::size_t length = std::min(unread().find('\n'), unread().size());
    ended = length < unread().size();
    line_.append(unread().substr(0, length));
    begin_ += length + (ended ? 1 : 0);
    if (line_.size() > kMaxLineBytes) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("{} is longer than {} MiB", inputPlace(lineCount_ + 1, offset), kMaxLineBytes >> 20),
                  "split it into several lines");
    }
  }
  return Line{.text = line_, .number = ++lineCount_, .offset = offset};
}

Result<bool> Input::skipLine() {
  line_ = {};
  ++lineCount_;
  for (;;) {
    const std::size_t end = unread().find('\n');
    if (end != std::string_view::npos) {
      begin_ += end + 1;
      return true;
    }
    BOUGH_TRY(const auto more, fill());
    if (!more) return false;
  }
}

Result<std::string> Input::rest() {
  std::string all;
  for (;;) {
    all.append(unread());
    BOUGH_TRY(const auto more, fill());
    if (!more) return all;
  }
}

}  // namespace bough::cli
