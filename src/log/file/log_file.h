// The file of a session: which file has the session's name, its last known state, which part of it is on the disk, and
// its lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/file_io.h"
#include "bough/error.h"
#include "log/file/log_files.h"

namespace bough {

/// The part of the file that is known to be on the disk.
struct SyncedPart {
  std::uint64_t bytes = 0;
  bool isNameSynced = false;  ///< The file's name is on the disk as well.
};

/// The state of the file when all of it was last known.
class LastKnownFile {
 public:
  [[nodiscard]] bool isSame(const FileInfo& info) const {
    return info_ && info.sizeBytes == info_->sizeBytes && info.modifiedNs == info_->modifiedNs;
  }
  /// std::nullopt while not all of the file is known.
  [[nodiscard]] const std::optional<FileInfo>& info() const { return info_; }
  [[nodiscard]] std::optional<std::uint64_t> bytes() const {
    return info_ ? std::optional(info_->sizeBytes) : std::nullopt;
  }
  void note(const FileInfo& info) { info_ = info; }
  void clear() { info_.reset(); }

 private:
  std::optional<FileInfo> info_;
};

/// A locked file. The lock is released when this object is destroyed.
struct LockedFile {
  std::shared_ptr<File> file;
  FileLock lock;
};

/// Returns true while anybody, this process included, holds the exclusive lock of a log, or when that is unknown.
[[nodiscard]] bool isBeingWritten(const OpenLog& log);

class LogFile {
 public:
  LogFile(LogFolders folders, std::string sessionId, int lockTimeoutMs);

  /// Opens the file that has the session's name now, in whichever folder it is. Clears what was known about the
  /// previous file.
  Result<void> open();
  /// False before the first open(), as in a child of fork(2).
  [[nodiscard]] bool isOpen() const { return log_.file != nullptr; }
  [[nodiscard]] const OpenLog& opened() const { return log_; }
  [[nodiscard]] ByteSource& source() const { return *log_.source; }
  [[nodiscard]] const LogFolders& folders() const { return folders_; }
  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }
  /// For messages.
  [[nodiscard]] std::string path() const { return isOpen() ? log_.path() : plainPath_; }
  [[nodiscard]] Error ioError(int number, std::string_view what) const { return readError(log_, number, what); }
  /// Returns the uncompressed size of the log.
  Result<std::uint64_t> size();

  /// Looks up the file that has the session's name now.
  [[nodiscard]] SysResult<FileInfo> namedFileInfo() const { return log_.folder->info(log_.name); }
  /// Returns true when that lookup found a different file than ours, or none.
  [[nodiscard]] bool isReplacedOrGone(const SysResult<FileInfo>& named) const;
  /// The last known state of the file.
  LastKnownFile& lastKnown() { return lastKnown_; }

  /// Waits for the exclusive lock. The file may have lost its name by then. The caller must not hold a mutex while
  /// waiting.
  static Result<LockedFile> lock(std::shared_ptr<File> file, LockOrder order, int timeoutMs, std::string_view path);
  [[nodiscard]] int lockTimeoutMs() const { return lockTimeoutMs_; }
  [[nodiscard]] const std::string& plainPath() const { return plainPath_; }

  /// What is known to be durable.
  SyncedPart& synced() { return synced_; }
  /// Makes the file's bytes durable. After a failure, the state of the disk is unknown for good: see poison().
  Result<void> sync();
  /// Makes the file's name durable: the process that created or replaced the file may have died before it did that.
  Result<void> syncName();
  /// Set after a failed sync: nothing more is acknowledged until the session is opened again.
  [[nodiscard]] const std::optional<Error>& poison() const { return poison_; }
  const Error& setPoison(int number);

 private:
  const LogFolders folders_;
  const std::string sessionId_;
  const std::string plainPath_;  // of the log when it is not archived, for messages
  const int lockTimeoutMs_;
  OpenLog log_;
  LastKnownFile lastKnown_;
  SyncedPart synced_;
  std::optional<Error> poison_;
};

}  // namespace bough
