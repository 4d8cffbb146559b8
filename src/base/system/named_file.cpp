#include "base/system/named_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text/utf8.h"
#include "base/try.h"

namespace bough {
namespace {

class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::unexpected<Error> cannotReadNamed(const std::string& path, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  return fail(missing ? ErrorCode::NotFound : ErrorCode::Io,
              fmt::format("cannot read {}: {}", path, std::strerror(number)));
}

std::string sizeText(std::uint64_t bytes) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  return bytes % kGiB == 0 ? fmt::format("{} GiB", bytes / kGiB) : fmt::format("{} MiB", bytes >> 20);
}

Result<void> checkKind(const std::string& path, const struct stat& info, std::uint64_t limitBytes) {
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder, not a file", path));
  }
  const bool isNothing = S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !isNothing) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a socket or a device, not a file", path));
  }
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > limitBytes) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is larger than {}", path, sizeText(limitBytes)));
  }
  return {};
}

}  // namespace

Result<std::string> readNamedFile(const std::string& path, std::uint64_t limitBytes) {
  const OpenedFile file(path);
  struct stat info{};
  if (file.number() < 0 || ::fstat(file.number(), &info) != 0) return cannotReadNamed(path, errno);
  BOUGH_TRY(checkKind(path, info, limitBytes));
  constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  std::string text;
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + std::max<std::size_t>(kPieceBytes, had == 0 ? static_cast<std::size_t>(info.st_size) + 1 : had));
    const ssize_t got = ::read(file.number(), text.data() + had, text.size() - had);
    const int problem = errno;
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && problem == EAGAIN) {
      pollfd ready{.fd = file.number(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return cannotReadNamed(path, errno);
    } else if (got < 0 && problem != EINTR) {
      return cannotReadNamed(path, problem);
    }
    if (got == 0) break;
    if (text.size() > limitBytes) {
      return fail(ErrorCode::InvalidArgument, fmt::format("{} is larger than {}", path, sizeText(limitBytes)));
    }
  }
  if (text.empty() && S_ISFIFO(info.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a pipe that nobody writes to", path));
  }
  return text;
}

bool isBlank(std::string_view text) {
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  return text.find_first_not_of(" \t\r\n", begin) == std::string_view::npos;
}

}  // namespace bough
