// File operations beyond single system calls: reading and writing whole files, waiting for a lock, and errors that name
// the path and say what to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/system/file_system.h"
#include "bough/error.h"

namespace bough {

/// Turns errno into an Error. `what` is the operation ("append to"), `path` the file or folder.
Error systemError(int number, std::string_view what, std::string_view path);

/// Returns true when a file could not be opened because `path` has no regular file: nothing, or a link, a folder or a
/// device.
bool isNoFile(int number);

/// Returns the error for a file that was replaced or changed while it was read. Its code is Damaged, and the caller may
/// retry.
std::unexpected<Error> changedWhileRead(std::string_view what);

/// Converts a SysResult to a Result.
template <typename T>
Result<T> orError(SysResult<T> result, std::string_view what, std::string_view path) {
  if (!result) return std::unexpected(systemError(result.error(), what, path));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

/// Reads until `out` is full or the file ends. Returns the number of bytes read.
SysResult<std::size_t> readFully(File& file, std::uint64_t offset, std::span<char> out);

/// Writes all of `bytes`, retrying after partial writes.
SysResult<void> writeFully(File& file, std::uint64_t offset, std::string_view bytes);

/// Reads a whole file of at most `limitBytes`. Fails with EFBIG when it is larger.
SysResult<std::string> readWhole(File& file, std::uint64_t limitBytes);

/// Whether to try a lock immediately, or to queue after the threads and processes that already wait for it.
enum class LockOrder : std::uint8_t { Immediate, Queued };

/// Waits for the lock, with growing pauses between tries; returns Busy after `timeoutMs`. A waiter holds the turn of
/// the file (File::tryLockQueue). A caller that takes the lock again and again must sometimes ask for it Queued, so
/// that the waiters get it first.
Result<void> lockWithin(File& file, LockKind kind, int timeoutMs, std::string_view path,
                        LockOrder order = LockOrder::Immediate);

/// Holds a file's lock for a scope.
class FileLock {
 public:
  explicit FileLock(File& file) : file_(&file) {}
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() { unlock(); }
  /// Releases the lock before the end of the scope.
  void unlock() {
    if (File* file = std::exchange(file_, nullptr)) (void)file->unlock();
  }

 private:
  File* file_;
};

/// Returns the name of a file while it is being written: `<name>.<unique, 16 hexadecimal digits>.tmp`. `unique` is
/// random, so that each writer has its own file. `name` may start with a path. Long names are shortened.
std::string temporaryName(std::string_view name, std::uint64_t unique);

/// Returns true when temporaryName returns `temporary` for `name`. The test is exact, because users may have files
/// whose names begin the same way.
bool isTemporaryOf(std::string_view temporary, std::string_view name);

/// Removes temporary files of that name whose writers died. Files less than an hour old are kept: a writer may still be
/// using them.
void removeOldTemporaries(Directory& folder, std::string_view name, std::uint64_t nowMs);

/// What to do when a file with that name exists: replace it, or return AlreadyExists.
enum class IfPresent : std::uint8_t { Replace, Refuse };

/// Writes a file atomically: writes and syncs a temporary file in the same folder, renames it, and syncs the folder.
/// When several writers use the same name at once, the last one wins (Replace), or only the first one succeeds
/// (Refuse).
Result<void> writeDurably(Directory& folder, std::string_view name, std::string_view bytes,
                          IfPresent ifPresent = IfPresent::Replace);

}  // namespace bough
