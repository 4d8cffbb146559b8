// What every room needs of files beyond single system calls: whole reads and writes, waiting for a lock, and errors
// that name the path and say what to do.
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

/// Turns errno into an Error: `what` is what was being done ("append to"), `path` what it was done to.
Error systemError(int number, std::string_view what, std::string_view path);

/// Whether a file could not be opened because there is none of that name: nothing, or a link, a folder or a device.
bool isNoFile(int number);

/// What was read cannot be trusted: it was replaced or changed meanwhile. Damaged, and worth another try.
std::unexpected<Error> changedWhileRead(std::string_view what);

/// Lifts a SysResult into a Result.
template <typename T>
Result<T> orError(SysResult<T> result, std::string_view what, std::string_view path) {
  if (!result) return std::unexpected(systemError(result.error(), what, path));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

/// Reads until `out` is full or the file ends; returns how much came.
SysResult<std::size_t> readFully(File& file, std::uint64_t offset, std::span<char> out);

/// Writes all of `bytes`, however often the system takes only a part.
SysResult<void> writeFully(File& file, std::uint64_t offset, std::string_view bytes);

/// Reads a whole file of at most `limitBytes`; EFBIG when it is larger.
SysResult<std::string> readWhole(File& file, std::uint64_t limitBytes);

/// How to ask for a lock: at once, or after whoever waits for it already.
enum class LockOrder : std::uint8_t { AtOnce, InTurn };

/// Waits for the lock, ever longer between tries; Busy after `timeoutMs`. Whoever waits holds the file's turn, so who
/// takes the lock again and again must now and then ask for it InTurn: then it comes after those who wait.
Result<void> lockWithin(File& file, LockKind kind, int timeoutMs, std::string_view path,
                        LockOrder order = LockOrder::AtOnce);

/// Holds a file's lock for a scope.
class FileLock {
 public:
  explicit FileLock(File& file) : file_(&file) {}
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() { unlock(); }
  /// Before the end of the scope.
  void unlock() {
    if (File* file = std::exchange(file_, nullptr)) (void)file->unlock();
  }

 private:
  File* file_;
};

/// The name of a file while it is written: `<name>.<unique, 16 hexadecimal digits>.tmp`. With a random number each
/// writer has a file of its own. `name` may have a path before it. Long names are cut.
std::string temporaryName(std::string_view name, std::uint64_t unique);

/// Whether temporaryName gives this for that name. Nothing looser: others may have names that begin the same way.
bool isTemporaryOf(std::string_view temporary, std::string_view name);

/// Removes temporary files of that name left by writers that died. A file less than an hour old may still be written.
void removeOldTemporaries(Directory& folder, std::string_view name, std::uint64_t nowMs);

/// What to do when a file of that name is there: replace it, or return AlreadyExists.
enum class IfPresent : std::uint8_t { Replace, Refuse };

/// Writes a file so that it is there whole or not at all: a temporary one beside it, synced, renamed, folder synced. Of
/// several that write the same name at once, the last replaces the others, or all but the first are refused.
Result<void> writeDurably(Directory& folder, std::string_view name, std::string_view bytes,
                          IfPresent ifPresent = IfPresent::Replace);

}  // namespace bough
