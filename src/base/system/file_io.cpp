#include "base/system/file_io.h"

#include "base/system/environment.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace bough {

Error systemError(int number, std::string_view what, std::string_view path) {
  Error error{.code = ErrorCode::Io,
              .message = fmt::format("cannot {} {}: {}", what, path, std::strerror(number)),
              .hint = {},
              .retryable = false,
              .actualTail = {}};
  switch (number) {
    case ENOENT: error.code = ErrorCode::NotFound; break;
    case EEXIST: error.code = ErrorCode::AlreadyExists; break;
    case EROFS:
      error.code = ErrorCode::ReadOnly;
      error.hint = "its file system is mounted read-only: mount that for writing, or copy the store elsewhere";
      break;
    case EACCES:
    case EPERM:
      error.code = ErrorCode::ReadOnly;
      error.hint = "check who owns it and its permissions";
      break;
    case ENAMETOOLONG:
      error.code = ErrorCode::InvalidArgument;
      error.hint = "use a shorter path: a name has at most 255 bytes, a path 4,095";
      break;
    case EFBIG:
      error.code = ErrorCode::NoSpace;
      error.hint = "files may not grow that large here: see `ulimit -f` and what the disk allows";
      break;
    case ENOSPC:
    case EDQUOT:
      error.code = ErrorCode::NoSpace;
      error.hint = "free some space, then try again; nothing that was acknowledged is lost";
      error.retryable = true;
      break;
    case ELOOP:
      error.code = ErrorCode::Damaged;
      error.message = fmt::format("cannot {} {}: it is a symbolic link", what, path);
      error.hint = "links inside a store are not followed; put the file itself there";
      break;
    case EISDIR:
      error.code = ErrorCode::Damaged;
      error.message = fmt::format("cannot {} {}: a folder is in the place of a file", what, path);
      error.hint = "move the folder out of the store";
      break;
    case ENXIO:
      error.code = ErrorCode::Damaged;
      error.message = fmt::format("cannot {} {}: a pipe, socket or device is in the place of a file", what, path);
      error.hint = "move it out of the store";
      break;
    case ENOTDIR:
      error.code = ErrorCode::Damaged;
      error.message = fmt::format("cannot {} {}: a file or a link is in the place of a folder", what, path);
      error.hint = "move it out of the store; links inside a store are not followed";
      break;
    case EMFILE:
    case ENFILE:
      error.hint = "raise the limit of open files (`ulimit -n`), or end programs that hold many";
      error.retryable = true;
      break;
    case EINTR:
    case EAGAIN:
      error.code = ErrorCode::Busy;
      error.retryable = true;
      break;
    default: error.hint = "check the disk and how it is mounted; nothing that was acknowledged is lost"; break;
  }
  return error;
}

bool isNoFile(int number) {
  return number == ENOENT || number == ELOOP || number == EISDIR || number == ENXIO || number == ENOTDIR;
}

std::unexpected<Error> changedWhileRead(std::string_view what) {
  auto error = fail(ErrorCode::Damaged, fmt::format("{} changed while it was read", what), "try again");
  error.error().retryable = true;
  return error;
}

SysResult<std::size_t> readFully(File& file, std::uint64_t offset, std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = file.readAt(offset + done, out.subspan(done));
    if (!got && got.error() == EINTR) continue;
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

SysResult<void> writeFully(File& file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = file.writeAt(offset, bytes);
    if (!put && put.error() == EINTR) continue;
    if (!put) return std::unexpected(put.error());
    if (*put == 0) return std::unexpected(EIO);
    offset += *put;
    bytes.remove_prefix(*put);
  }
  return {};
}

SysResult<std::string> readWhole(File& file, std::uint64_t limitBytes) {
  BOUGH_TRY(const auto info, file.info());
  if (info.sizeBytes > limitBytes) return std::unexpected(EFBIG);
  std::string bytes(info.sizeBytes, '\0');
  BOUGH_TRY(const auto got, readFully(file, 0, bytes));
  bytes.resize(got);
  return bytes;
}

namespace {

// The first position in the queue for a file's lock.
class Turn {
 public:
  explicit Turn(File& file) : file_(file) {}
  ~Turn() {
    if (held_) (void)file_.unlockQueue();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Returns false while another thread or process has the turn. On a file system without turns, nobody queues.
  bool take() {
    if (held_) return true;
    const auto taken = file_.tryLockQueue();
    held_ = taken.has_value();
    return held_ || (taken.error() != EWOULDBLOCK && taken.error() != EACCES && taken.error() != EINTR);
  }

 private:
  File& file_;
  bool held_ = false;
};

}  // namespace

Result<void> lockWithin(File& file, LockKind kind, int timeoutMs, std::string_view path, LockOrder order) {
  using namespace std::chrono;
  const auto tryLock = [&]() -> Result<bool> {
    const auto locked = file.tryLock(kind);
    if (locked) return true;
    if (locked.error() == EWOULDBLOCK || locked.error() == EINTR) return false;
    return std::unexpected(systemError(locked.error(), "lock", path));
  };
  if (order == LockOrder::Immediate) {
    BOUGH_TRY(const auto locked, tryLock());
    if (locked) return {};
  }
  const auto deadline = steady_clock::now() + milliseconds(timeoutMs);
  Turn turn(file);
  for (auto pause = microseconds(20);; pause = std::min(pause * 2, microseconds(1000))) {
    if (turn.take()) {
      BOUGH_TRY(const auto locked, tryLock());
      if (locked) return {};
    }
    if (steady_clock::now() >= deadline) {
      return fail(ErrorCode::Busy, fmt::format("{} stayed locked for {} ms", path, timeoutMs),
                  "another process is writing to it and does not finish; find it with `fuser`, or try again");
    }
    std::this_thread::sleep_for(pause);
  }
}

namespace {

constexpr std::string_view kTemporaryEnd = ".tmp";
constexpr std::size_t kUniqueDigits = 16;

// A file name may have at most 255 bytes. Never cuts inside a character.
std::string_view temporaryBegin(std::string_view name) {
  constexpr std::size_t kMaxBytes = 200;
  const std::size_t begin = name.rfind('/') + 1;  // 0 when there is no folder
  if (name.size() - begin <= kMaxBytes) return name;
  std::size_t end = begin + kMaxBytes;
  while (end > begin && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

}  // namespace

std::string temporaryName(std::string_view name, std::uint64_t unique) {
  return fmt::format("{}.{:016x}{}", temporaryBegin(name), unique, kTemporaryEnd);
}

bool isTemporaryOf(std::string_view temporary, std::string_view name) {
  const std::string_view begin = temporaryBegin(name);
  if (!temporary.starts_with(begin) || !temporary.ends_with(kTemporaryEnd)) return false;
  if (temporary.size() != begin.size() + 1 + kUniqueDigits + kTemporaryEnd.size()) return false;
  const std::string_view unique = temporary.substr(begin.size(), 1 + kUniqueDigits);
  return unique[0] == '.' && unique.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

void removeOldTemporaries(Directory& folder, std::string_view name, std::uint64_t nowMs) {
  constexpr std::uint64_t kOldMs = 3'600'000;
  const auto names = folder.list();
  if (!names) return;
  for (const std::string& each : *names) {
    if (!isTemporaryOf(each, name)) continue;
    const auto info = folder.info(each);
    if (info && info->isRegular && info->modifiedNs / 1'000'000 + kOldMs < nowMs) (void)folder.remove(each);
  }
}

Result<void> writeDurably(Directory& folder, std::string_view name, std::string_view bytes, IfPresent ifPresent) {
  const Environment& system = systemEnvironment();
  const std::string temporary = temporaryName(name, system.random.next());
  const std::string path = fmt::format("{}/{}", folder.path(), name);
  auto file = folder.open(temporary, OpenMode::CreateNew);
  if (!file) return std::unexpected(systemError(file.error(), "create", path));
  auto done = writeFully(**file, 0, bytes);
  if (done) done = (*file)->sync();
  const bool replace = ifPresent == IfPresent::Replace;
  if (done) done = replace ? folder.rename(temporary, name) : folder.link(temporary, name);
  if (!done || !replace) (void)folder.remove(temporary);
  if (!done) return std::unexpected(systemError(done.error(), "write", path));
  removeOldTemporaries(folder, name, system.clock.nowMs());
  return orError(folder.sync(), "sync the folder of", path);
}

}  // namespace bough
