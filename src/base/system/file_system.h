// Files and folders, behind an interface: every system call that touches the disk goes through here, so that tests can
// fail each one, cut the power between any two, and record their order.
//
// Names are single components below an open folder, and no symbolic link is ever followed, so nothing that is in
// a store can lead out of it. Results carry errno; base/system/file_io.h turns them into errors that name the path.
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

/// Tells one file from another that took its name.
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
  std::uint64_t changedNs = 0;  ///< Its bytes, its name or anything else about it; nobody can set it back.
  std::uint64_t linkCount = 0;  ///< How many names it has.
};

enum class LockKind : std::uint8_t { Shared, Exclusive };

/// An open file. Reads may come from any thread; writes from one at a time.
class File {
 public:
  virtual ~File() = default;
  virtual SysResult<FileInfo> info() = 0;
  /// Reads at most out.size() bytes; fewer at the end of the file or when interrupted, 0 at the end.
  virtual SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) = 0;
  /// Writes at least one byte of `bytes`, perhaps not all.
  virtual SysResult<std::size_t> writeAt(std::uint64_t offset, std::string_view bytes) = 0;
  /// Lets the system begin to write these bytes to the disk while the caller goes on. It promises nothing: sync does,
  /// and says what went wrong.
  virtual void startSync(std::uint64_t offset, std::uint64_t sizeBytes) = 0;
  /// fdatasync: the bytes and the size are on the disk when this returns.
  virtual SysResult<void> sync() = 0;
  virtual SysResult<void> truncate(std::uint64_t sizeBytes) = 0;
  /// flock without waiting: EWOULDBLOCK when another open file holds it. It ends with unlock or with this object, also
  /// when the process dies.
  virtual SysResult<void> tryLock(LockKind kind) = 0;
  virtual SysResult<void> unlock() = 0;
  /// A second lock beside that one, without waiting: EWOULDBLOCK when another open file holds it. Whoever waits for
  /// the lock holds the turn meanwhile; see lockWithin.
  virtual SysResult<void> tryTakeTurn() = 0;
  virtual SysResult<void> leaveTurn() = 0;
};

enum class OpenMode : std::uint8_t {
  Read,
  ReadWrite,
  CreateNew,     ///< Read and write; EEXIST when there is such a file.
  OpenOrCreate,  ///< Read and write.
};

/// Waits for changes of names in a folder.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// True when a file changed, was replaced, made or removed, or wake() was called; false when the time is over.
  virtual SysResult<bool> wait(int timeoutMs) = 0;
  struct Changed {
    bool all = false;  ///< Any name may have; too much happened to tell which.
    std::set<std::string> names;
  };
  /// What changed since the last call, or since watching began.
  virtual Changed takeChanged() = 0;
  /// Ends a wait, from any thread.
  virtual void wake() = 0;
};

/// Words that several processes share through a file.
class SharedWords {
 public:
  virtual ~SharedWords() = default;
  [[nodiscard]] virtual std::span<std::atomic<std::uint64_t>> words() = 0;
  /// False when the file can only be read: then nothing may be stored in them.
  [[nodiscard]] virtual bool writable() const = 0;
  /// False when the file was cut short, so that touching the words ends the process. The cheapest of system calls.
  [[nodiscard]] virtual bool whole() const = 0;
  /// False also when it was removed, so that nobody else sees them any more.
  [[nodiscard]] virtual bool intact() const = 0;
};

/// An open folder. All calls may come from any thread.
class Directory {
 public:
  virtual ~Directory() = default;
  /// EISDIR for a folder, ENXIO for a pipe, a socket or a device, ELOOP for a link.
  virtual SysResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;
  /// Opens a folder below this one; makes it (0700) when it is missing and `create` is set.
  virtual SysResult<std::unique_ptr<Directory>> openDirectory(std::string_view name, bool create) = 0;
  virtual SysResult<FileInfo> info(std::string_view name) = 0;
  virtual SysResult<std::vector<std::string>> list() = 0;
  virtual SysResult<void> rename(std::string_view from, std::string_view to) = 0;
  /// Gives a file a second name in this folder.
  virtual SysResult<void> link(std::string_view from, std::string_view to) = 0;
  /// Gives a file a second name in another folder of the same file system.
  virtual SysResult<void> linkTo(std::string_view from, Directory& folder, std::string_view to) = 0;
  virtual SysResult<void> remove(std::string_view name) = 0;
  /// fsync of the folder: names made, moved and removed before are on the disk when this returns.
  virtual SysResult<void> sync() = 0;
  /// Whether files may be made here.
  virtual SysResult<void> checkWritable() = 0;
  /// Begins to watch these names; all of the folder's when there are none. However many watch, a folder needs one
  /// descriptor and no thread.
  virtual SysResult<std::unique_ptr<Watcher>> watch(const std::vector<std::string>& names) = 0;
  /// Maps the file of that name, which holds exactly `initial.size()` words; makes it of `initial`, at once whole, when
  /// it is missing and can be made. EINVAL when it is of another size; ENOTSUP where nothing can be shared.
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
  /// Opens the folder at `path`, which may be a link; makes it and its parents (0700) when `create` is set.
  virtual SysResult<std::unique_ptr<Directory>> openRoot(const std::string& path, bool create) = 0;
  /// Differs after each start of the machine; empty when that is unknown.
  virtual std::string bootId() { return {}; }
};

/// The operating system's files. Lives as long as the program.
FileSystem& posixFileSystem();

}  // namespace bough
