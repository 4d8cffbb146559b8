#include "log/file/log_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/try.h"

namespace bough {

LogFile::LogFile(LogFolders folders, std::string sessionId, int lockTimeoutMs)
    : folders_(std::move(folders)),
      sessionId_(std::move(sessionId)),
      plainPath_(folders_.sessions->path() + "/" + logName(sessionId_)),
      lockTimeoutMs_(lockTimeoutMs) {}

Result<void> LogFile::open() {
  BOUGH_TRY(log_, openLog(folders_, sessionId_));
  lastKnown_.clear();
  synced_ = {};
  return {};
}

Result<std::uint64_t> LogFile::size() {
  const auto size = source().size();
  if (!size) return std::unexpected(ioError(size.error(), "look at"));
  return *size;
}

bool LogFile::isReplacedOrGone(const SysResult<FileInfo>& named) const {
  return named ? named->identity != log_.info.identity : named.error() == ENOENT;
}

Result<LockedFile> LogFile::lock(std::shared_ptr<File> file, LockOrder order, int timeoutMs, std::string_view path) {
  BOUGH_TRY(lockWithin(*file, LockKind::Exclusive, timeoutMs, path, order));
  FileLock lock(*file);
  return LockedFile{.file = std::move(file), .lock = std::move(lock)};
}

// Uses a second open file: a lock on the same open file would change our own lock.
bool isBeingWritten(const OpenLog& log) {
  const auto file = log.folder->open(log.name, OpenMode::Read);
  return !file || !(*file)->tryLock(LockKind::Shared);
}

const Error& LogFile::setPoison(int number) {
  poison_ =
      Error{.code = ErrorCode::Poisoned,
            .message = fmt::format("{} could not be synced ({}), so it is unknown what the disk holds", path(),
                                   std::strerror(number)),
            .hint = "check the disk, then open the store again and repeat the batch: what is there is known by its ids",
            .retryable = false,
            .actualTail = {}};
  return *poison_;
}

Result<void> LogFile::sync() {
  if (const auto done = log_.file->sync(); !done) return std::unexpected(setPoison(done.error()));
  return {};
}

Result<void> LogFile::syncName() {
  if (synced_.isNameSynced) return {};
  if (const auto done = log_.folder->sync(); !done) {
    return std::unexpected(ioError(done.error(), "sync the folder of"));
  }
  synced_.isNameSynced = true;
  return {};
}

}  // namespace bough
