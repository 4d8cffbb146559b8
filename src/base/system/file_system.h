// The interface to files and folders. Every system call that touches the disk goes through it, so that tests can fail
// each call, cut the power between any two calls, and record their order.
//
// Names are single components below an open folder, and symbolic links are never followed, so nothing in a store can
// refer to a file outside. Results carry errno; base/system/file_io.h turns them into errors that name the path.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bough {

template <typename T>
using SysResult = std::expected<T, int>;

/// Distinguishes a file from another file that later took its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct FileInfo {
  std::uint64_t sizeBytes = 0;
  FileIdentity identity;
  bool isDirectory = false;
  bool isRegular = false;
  std::uint64_t modifiedNs = 0;
  std::uint64_t changedNs = 0;  ///< Last change of its bytes, its name or its attributes. Programs cannot set it.
  std::uint64_t linkCount = 0;  ///< How many names the file has.
};

enum class LockKind : std::uint8_t { Shared, Exclusive };

/// An open file. Reads are thread-safe; only one thread at a time may write.
class File {
 public:
  virtual ~File() = default;
  virtual SysResult<FileInfo> info() = 0;
  /// Reads at most out.size() bytes. Returns fewer at the end of the file or when interrupted, and 0 at the end.
  virtual SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) = 0;
  /// Writes at least one byte of `bytes`, possibly not all.
  virtual SysResult<std::size_t> writeAt(std::uint64_t offset, std::string_view bytes) = 0;
  /// Asks the system to start writing these bytes to the disk in the background. Guarantees nothing; errors are
  /// reported by sync().
  virtual void startSync(std::uint64_t offset, std::uint64_t sizeBytes) = 0;
  /// fdatasync: when this returns, the bytes and the size are on the disk.
  virtual SysResult<void> sync() = 0;
  virtual SysResult<void> truncate(std::uint64_t sizeBytes) = 0;
  /// flock without waiting: EWOULDBLOCK when another open file holds the lock. The lock ends with unlock(), with this
  /// object, or when the process dies.
  virtual SysResult<void> tryLock(LockKind kind) = 0;
  virtual SysResult<void> unlock() = 0;
  /// Takes the turn, a second lock on this file, without waiting: EWOULDBLOCK when another open file holds it. A thread
  /// that waits for the first lock holds the turn meanwhile; see lockWithin.
  virtual SysResult<void> tryLockQueue() = 0;
  virtual SysResult<void> unlockQueue() = 0;
};

enum class OpenMode : std::uint8_t {
  Read,
  ReadWrite,
  CreateNew,     ///< Read and write; EEXIST when the file exists.
  OpenOrCreate,  ///< Read and write.
};

/// Waits for changes to names in a folder.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Returns true when a file was changed, replaced, created or removed, or wake() was called; false on timeout.
  virtual SysResult<bool> wait(int timeoutMs) = 0;
  struct Changed {
    bool all = false;  ///< Too many changes to report: any name may have changed.
    std::set<std::string> names;
  };
  /// Returns what changed since the last call, or since watching began.
  virtual Changed takeChanged() = 0;
  /// Ends a wait. May be called from any thread.
  virtual void wake() = 0;
};

/// An array of 64-bit words that several processes share through a file.
class SharedWords {
 public:
  virtual ~SharedWords() = default;
  [[nodiscard]] virtual std::span<std::atomic<std::uint64_t>> words() = 0;
  /// Returns false when the file is read-only; the words must not be changed then.
  [[nodiscard]] virtual bool isWritable() const = 0;
  /// Returns false when the file was truncated, so that touching the words would end the process. Costs one cheap
  /// system call.
  [[nodiscard]] virtual bool isWhole() const = 0;
  /// Returns false when the file was truncated or removed. In a removed file, no other process sees the words any more.
  [[nodiscard]] virtual bool isIntact() const = 0;
};

/// An open folder. Thread-safe.
class Directory {
 public:
  virtual ~Directory() = default;
  /// Fails with EISDIR for a folder, ENXIO for a pipe, a socket or a device, ELOOP for a symbolic link.
  virtual SysResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;
  /// Opens a folder below this one. When it is missing and `create` is set, creates it with mode 0700.
  virtual SysResult<std::unique_ptr<Directory>> openDirectory(std::string_view name, bool create) = 0;
  virtual SysResult<FileInfo> info(std::string_view name) = 0;
  virtual SysResult<std::vector<std::string>> list() = 0;
  virtual SysResult<void> rename(std::string_view from, std::string_view to) = 0;
  /// Gives a file a second name in this folder.
  virtual SysResult<void> link(std::string_view from, std::string_view to) = 0;
  /// Gives a file a second name in another folder of the same file system.
  virtual SysResult<void> linkTo(std::string_view from, Directory& folder, std::string_view to) = 0;
  virtual SysResult<void> remove(std::string_view name) = 0;
  /// fsync of the folder: when this returns, names that were created, moved or removed before are on the disk.
  virtual SysResult<void> sync() = 0;
  /// Fails when files cannot be created here.
  virtual SysResult<void> checkWritable() = 0;
  /// Watches these names, or all names of the folder when `names` is empty. A folder needs one descriptor and no
  /// thread, however many watchers it has.
  virtual SysResult<std::unique_ptr<Watcher>> watch(const std::vector<std::string>& names) = 0;
  /// Maps the file of that name, which must hold exactly `initial.size()` words. When the file is missing, creates it
  /// atomically with the words of `initial`, if it can. Fails with EINVAL when the size differs, and with ENOTSUP when
  /// the file system cannot share memory.
  virtual SysResult<std::unique_ptr<SharedWords>> share(std::string_view name, std::span<const std::uint64_t> initial) {
    (void)name, (void)initial;
    return std::unexpected(ENOTSUP);
  }
  /// For messages.
  [[nodiscard]] virtual std::string path() const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Opens the folder at `path`, which may be a symbolic link. When `create` is set, creates missing folders of the
  /// path with mode 0700.
  virtual SysResult<std::unique_ptr<Directory>> openRoot(const std::string& path, bool create) = 0;
  /// Changes with each start of the machine. Empty when unknown.
  virtual std::string bootId() { return {}; }
};

/// The files of the operating system. Never destroyed.
FileSystem& posixFileSystem();

}  // namespace bough
