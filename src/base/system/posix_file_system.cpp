// The real implementation of the file system interface: one system call per method, errno passed on unchanged.

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/system/file_system.h"
#include "base/system/folder_stream.h"
#include "base/system/posix_watcher.h"
#include "base/system/process_state.h"
#include "base/text/epoch.h"
#include "base/try.h"

namespace bough {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

std::unexpected<int> lastError() {
  return std::unexpected(errno);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// A NUL-terminated name that needs no allocation: every append uses names, and files must be removable when memory has
// run out. Of a name that is too long, enough is kept for the system to reject it.
class Name {
 public:
  explicit Name(std::string_view name) { std::ranges::copy(name.substr(0, text_.size() - 1), text_.begin()); }
  [[nodiscard]] const char* get() const { return text_.data(); }

 private:
  std::array<char, 258> text_{};
};

FileInfo toInfo(const struct stat& s) {
  return {.sizeBytes = static_cast<std::uint64_t>(s.st_size),
          .identity = {.device = s.st_dev, .inode = s.st_ino},
          .isDirectory = S_ISDIR(s.st_mode),
          .isRegular = S_ISREG(s.st_mode),
          .modifiedNs = epochNsOf(s.st_mtim),
          .changedNs = epochNsOf(s.st_ctim),
          .linkCount = s.st_nlink};
}

class PosixFile;

// The open files of this process. A lock belongs to an open file, and a child of fork(2) shares all open files: the
// child would hold the parent's locks, could take or release them, and would keep them after the parent died. So the
// child replaces each inherited descriptor by one that can be neither read, written nor locked.
class OpenFiles {
 public:
  static OpenFiles& all() {
    static OpenFiles& files = *new OpenFiles;  // must outlive every file
    return files;
  }
  void add(PosixFile& file);
  void remove(PosixFile& file);

 private:
  OpenFiles() {
    (void)pthread_atfork(nullptr, nullptr, [] { all().disown(); });
  }
  void disown();

  std::mutex mutex_;  // taken only under ForkBlocker, so no thread holds it during a fork
  PosixFile* first_ = nullptr;
};

class PosixFile final : public File {
 public:
  // Opening and registering a file must not be separated by a fork, and neither must unregistering and closing it: the
  // child would inherit an open file, with its locks, that is not in the list.
  static SysResult<std::unique_ptr<PosixFile>> open(int folder, std::string_view name, int flags) {
    auto file = std::make_unique<PosixFile>();
    const ForkBlocker forkBlocker;
    file->fd_ = Descriptor(::openat(folder, Name(name).get(), flags, kFileMode));
    if (file->fd_.get() < 0) return lastError();
    OpenFiles::all().add(*file);
    return file;
  }
  PosixFile() = default;
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override {
    if (fd_.get() < 0) return;
    const ForkBlocker forkBlocker;
    OpenFiles::all().remove(*this);
    fd_ = Descriptor();
  }

  SysResult<FileInfo> info() override {
    struct stat s{};
    if (::fstat(fd_.get(), &s) != 0) return lastError();
    return toInfo(s);
  }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0) return lastError();
    return static_cast<std::size_t>(got);
  }
  SysResult<std::size_t> writeAt(std::uint64_t offset, std::string_view bytes) override {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) return lastError();
    return static_cast<std::size_t>(put);
  }
  void startSync(std::uint64_t offset, std::uint64_t sizeBytes) override {
    // While other threads wait for the disk, the processor has their work to do, and this call costs more than it
    // gains: the completion of the write that it starts interrupts this thread.
    if (syncing_.load(std::memory_order_relaxed) > 0) return;
    // Without the flags that wait: they would also consume an error that the following sync must report.
    (void)::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(sizeBytes),
                            SYNC_FILE_RANGE_WRITE);
  }
  SysResult<void> sync() override {
    syncing_.fetch_add(1, std::memory_order_relaxed);
    const int status = ::fdatasync(fd_.get());
    syncing_.fetch_sub(1, std::memory_order_relaxed);
    return done(status);
  }
  SysResult<void> truncate(std::uint64_t sizeBytes) override {
    return done(::ftruncate(fd_.get(), static_cast<off_t>(sizeBytes)));
  }
  SysResult<void> tryLock(LockKind kind) override {
    return done(::flock(fd_.get(), (kind == LockKind::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB));
  }
  SysResult<void> unlock() override { return done(::flock(fd_.get(), LOCK_UN)); }
  SysResult<void> tryLockQueue() override { return setTurn(F_WRLCK); }
  SysResult<void> unlockQueue() override { return setTurn(F_UNLCK); }

 private:
  friend class OpenFiles;
  static SysResult<void> done(int status) {
    if (status != 0) return lastError();
    return {};
  }
  // The turn is a record lock of this open file on a byte beyond any possible end of the file. Record locks and flock
  // do not affect each other.
  SysResult<void> setTurn(short type) {
    struct flock turn{};
    turn.l_type = type;
    turn.l_whence = SEEK_SET;
    turn.l_start = std::numeric_limits<off_t>::max() - 1;
    turn.l_len = 1;
    return done(::fcntl(fd_.get(), F_OFD_SETLK, &turn));
  }

  static inline std::atomic<unsigned> syncing_ = 0;  // threads in sync(); may count threads of the parent

  Descriptor fd_;
  PosixFile* next_ = nullptr;  // in the list of open files
  PosixFile* previous_ = nullptr;
};

void OpenFiles::add(PosixFile& file) {
  const std::lock_guard lock(mutex_);
  file.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &file;
  first_ = &file;
}

void OpenFiles::remove(PosixFile& file) {
  const std::lock_guard lock(mutex_);
  if (file.next_ != nullptr) file.next_->previous_ = file.previous_;
  (file.previous_ != nullptr ? file.previous_->next_ : first_) = file.next_;
}

void OpenFiles::disown() {
  if (first_ == nullptr) return;
  const int dead = ::open("/", O_PATH | O_CLOEXEC);
  for (PosixFile* file = first_; file != nullptr; file = file->next_) {
    if (dead < 0 || ::dup3(dead, file->fd_.get(), O_CLOEXEC) < 0) ::close(file->fd_.get());
  }
  if (dead >= 0) ::close(dead);
}

class PosixSharedWords final : public SharedWords {
 public:
  PosixSharedWords(Descriptor fd, void* memory, std::size_t count, bool writable)
      : fd_(std::move(fd)), memory_(memory), count_(count), writable_(writable) {}
  PosixSharedWords(const PosixSharedWords&) = delete;
  PosixSharedWords& operator=(const PosixSharedWords&) = delete;
  ~PosixSharedWords() override { ::munmap(memory_, count_ * sizeof(std::uint64_t)); }
  [[nodiscard]] std::span<std::atomic<std::uint64_t>> words() override {
    static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
    return {static_cast<std::atomic<std::uint64_t>*>(memory_), count_};
  }
  [[nodiscard]] bool isWritable() const override { return writable_; }
  [[nodiscard]] bool isWhole() const override { return ::lseek(fd_.get(), 0, SEEK_END) == sizeBytes(); }
  [[nodiscard]] bool isIntact() const override {
    struct stat s{};
    return ::fstat(fd_.get(), &s) == 0 && s.st_nlink > 0 && s.st_size == sizeBytes();
  }

 private:
  [[nodiscard]] off_t sizeBytes() const { return static_cast<off_t>(count_ * sizeof(std::uint64_t)); }

  Descriptor fd_;
  void* memory_;
  std::size_t count_;
  bool writable_;
};

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  SysResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    switch (mode) {
      case OpenMode::Read: flags |= O_RDONLY; break;
      case OpenMode::ReadWrite: flags |= O_RDWR; break;
      case OpenMode::CreateNew: flags |= O_RDWR | O_CREAT | O_EXCL; break;
      case OpenMode::OpenOrCreate: flags |= O_RDWR | O_CREAT; break;
    }
    auto file = PosixFile::open(fd_.get(), name, flags);
    if (!file) return std::unexpected(file.error());
    const auto found = (*file)->info();
    if (!found) return std::unexpected(found.error());
    if (found->isDirectory) return std::unexpected(EISDIR);
    if (!found->isRegular) return std::unexpected(ENXIO);
    return file;
  }

  SysResult<std::unique_ptr<Directory>> openDirectory(std::string_view name, bool create) override {
    const std::string child(name);
    if (create && ::mkdirat(fd_.get(), child.c_str(), kFolderMode) != 0 && errno != EEXIST) return lastError();
    Descriptor fd(::openat(fd_.get(), child.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd.get() < 0) return lastError();
    return std::make_unique<PosixDirectory>(std::move(fd), path_ + "/" + child);
  }

  SysResult<FileInfo> info(std::string_view name) override {
    struct stat s{};
    if (::fstatat(fd_.get(), Name(name).get(), &s, AT_SYMLINK_NOFOLLOW) != 0) return lastError();
    return toInfo(s);
  }

  SysResult<std::vector<std::string>> list() override {
    const FolderStream stream = streamOf(fd_.get());
    if (stream == nullptr) return lastError();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* item = ::readdir(stream.get())) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return lastError();
    return names;
  }

  SysResult<void> rename(std::string_view from, std::string_view to) override {
    return done(::renameat(fd_.get(), Name(from).get(), fd_.get(), Name(to).get()));
  }
  SysResult<void> link(std::string_view from, std::string_view to) override {
    return done(::linkat(fd_.get(), Name(from).get(), fd_.get(), Name(to).get(), 0));
  }
  SysResult<void> linkTo(std::string_view from, Directory& folder, std::string_view to) override {
    const auto* other = dynamic_cast<PosixDirectory*>(&folder);
    if (other == nullptr) return std::unexpected(EXDEV);
    return done(::linkat(fd_.get(), Name(from).get(), other->fd_.get(), Name(to).get(), 0));
  }
  SysResult<void> remove(std::string_view name) override { return done(::unlinkat(fd_.get(), Name(name).get(), 0)); }
  SysResult<void> sync() override { return done(::fsync(fd_.get())); }
  SysResult<void> checkWritable() override { return done(::faccessat(fd_.get(), ".", W_OK | X_OK, AT_EACCESS)); }

  SysResult<std::unique_ptr<Watcher>> watch(const std::vector<std::string>& names) override {
    {
      const std::lock_guard lock(*watching_);
      // inotify needs a path. This one leads through the open folder, wherever the folder was moved to.
      if (!events_) {
        events_ = std::make_shared<PerProcess<FolderEvents>>(
            [path = fmt::format("/proc/self/fd/{}/.", fd_.get())] { return std::make_unique<FolderEvents>(path); });
      }
    }
    return watchNames(events_, names);
  }

  SysResult<std::unique_ptr<SharedWords>> share(std::string_view name,
                                                std::span<const std::uint64_t> initial) override {
    const std::string file(name);
    const auto openIt = [&](int flags) {
      return Descriptor(::openat(fd_.get(), file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    };
    Descriptor fd = openIt(O_RDWR);
    if (fd.get() < 0 && errno == ENOENT) {
      BOUGH_TRY(makeShared(file, initial));
      fd = openIt(O_RDWR);
    }
    const bool writable = fd.get() >= 0;
    if (!writable && (errno == EACCES || errno == EROFS)) fd = openIt(O_RDONLY);
    struct stat s{};
    if (fd.get() < 0 || ::fstat(fd.get(), &s) != 0) return lastError();
    if (!S_ISREG(s.st_mode) || s.st_size != static_cast<off_t>(initial.size_bytes())) return std::unexpected(EINVAL);
    void* memory =
        ::mmap(nullptr, initial.size_bytes(), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED) return lastError();
    return std::make_unique<PosixSharedWords>(std::move(fd), memory, initial.size(), writable);
  }

  [[nodiscard]] std::string path() const override { return path_; }

 private:
  // Writes the file under another name first, so that no process maps an incomplete file. All blocks are allocated
  // before anyone stores into them.
  SysResult<void> makeShared(const std::string& name, std::span<const std::uint64_t> initial) {
    const std::string temporary = fmt::format("{}.{:x}.tmp", name, initial.front());
    const Descriptor fd(
        ::openat(fd_.get(), temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    if (fd.get() < 0) return lastError();
    SysResult<void> made;
    const int full = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(initial.size_bytes()));
    const auto bytes = static_cast<ssize_t>(initial.size_bytes());
    if (full != 0) {
      made = std::unexpected(full);
    } else if (::pwrite(fd.get(), initial.data(), initial.size_bytes(), 0) != bytes) {
      made = std::unexpected(ENOSPC);
    } else if (::linkat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str(), 0) != 0 && errno != EEXIST) {
      made = lastError();
    }
    (void)::unlinkat(fd_.get(), temporary.c_str(), 0);
    return made;
  }

  static SysResult<void> done(int status) {
    if (status != 0) return lastError();
    return {};
  }

  Descriptor fd_;
  PerProcess<std::mutex> watching_;
  std::shared_ptr<PerProcess<FolderEvents>> events_;  // created by the first watch
  std::string path_;
};

class PosixFileSystem final : public FileSystem {
 public:
  SysResult<std::unique_ptr<Directory>> openRoot(const std::string& path, bool create) override {
    int denied = 0;
    for (std::size_t at = 1; create && at <= path.size();) {
      const std::size_t slash = std::min(path.find('/', at), path.size());
      const auto made = makeFolder(path.substr(0, slash));
      // Whether a parent folder without write permission matters is known only when the last folder is opened.
      const bool isDenied = !made && (made.error() == EROFS || made.error() == EACCES);
      if (isDenied && denied == 0) denied = made.error();
      if (!made && !isDenied) return std::unexpected(made.error() == ENOENT && denied != 0 ? denied : made.error());
      at = slash + 1;
    }
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0) return std::unexpected(errno == ENOENT && denied != 0 ? denied : errno);
    return std::make_unique<PosixDirectory>(std::move(fd), path);
  }

  std::string bootId() override {
    const Descriptor fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t got = fd.get() < 0 ? -1 : ::read(fd.get(), text.data(), text.size());
    std::string id(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  }

 private:
  // Creates a folder unless it exists and makes its name durable, because data in a folder is only as safe as the path
  // to it.
  static SysResult<void> makeFolder(const std::string& path) {
    if (::mkdir(path.c_str(), kFolderMode) != 0) {
      return errno == EEXIST ? SysResult<void>() : lastError();
    }
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 || ::fsync(folder.get()) != 0) return lastError();
    return {};
  }
};

}  // namespace

FileSystem& posixFileSystem() {
  static PosixFileSystem system;
  return system;
}

}  // namespace bough
