#include "base/system/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/system/environment.h"
#include "base/system/folder_stream.h"
#include "base/try.h"

namespace bough {
namespace {

SysResult<void> orErrno(int result) {
  if (result == 0) return {};
  return std::unexpected(errno);
}

// Returns a path through which a file without a name can be linked.
std::string nameOfDescriptor(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

// Returns -1 when the file system does not support this, or when there is no /proc.
int openUnnamed(int folder, mode_t mode) {
  const int file = ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file < 0 || ::access(nameOfDescriptor(file).c_str(), F_OK) == 0) return file;
  ::close(file);
  return -1;
}

void removeLeftoversOf(int folder, const std::string& name) {
  constexpr std::uint64_t kOldSeconds = 3'600;
  FolderStream listed = streamOf(folder);
  if (listed == nullptr) return;
  const std::uint64_t now = systemEnvironment().clock.nowMs() / 1'000;
  std::vector<std::string> left;
  while (const dirent* each = ::readdir(listed.get())) {
    struct stat info{};
    if (!isTemporaryOf(each->d_name, name)) continue;
    if (::fstatat(folder, each->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    if (static_cast<std::uint64_t>(info.st_mtim.tv_sec) + kOldSeconds < now) left.emplace_back(each->d_name);
  }
  listed.reset();
  for (const std::string& each : left) (void)::unlinkat(folder, each.c_str(), 0);
}

}  // namespace

AtomicFile::AtomicFile(int folder, std::string_view name)
    : folder_(folder),
      name_(name),
      temporary_(temporaryName(fmt::format(".{}", name), systemEnvironment().random.next())) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : folder_(other.folder_),
      name_(std::move(other.name_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      hasTemporaryName_(std::exchange(other.hasTemporaryName_, false)) {}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (hasTemporaryName_) (void)::unlinkat(folder_, temporary_.c_str(), 0);
}

SysResult<AtomicFile> AtomicFile::create(int folder, std::string_view name, mode_t mode) {
  AtomicFile made(folder, name);
  made.file_ = openUnnamed(folder, mode);
  if (made.file_ < 0) {
    BOUGH_TRY(made.openTemporary(mode));
  }
  return made;
}

SysResult<void> AtomicFile::openTemporary(mode_t mode) {
  file_ = ::openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (file_ < 0) return std::unexpected(errno);
  hasTemporaryName_ = true;
  return {};
}

// For file systems that can create a file without a name but cannot give it a name later.
SysResult<void> AtomicFile::copyToTemporary() {
  struct stat info{};
  if (::fstat(file_, &info) != 0) return std::unexpected(errno);
  const int unnamed = std::exchange(file_, -1);
  auto copied = openTemporary(info.st_mode & 07777);
  char piece[65'536];
  for (off_t at = 0; copied;) {
    const ssize_t got = ::pread(unnamed, piece, sizeof piece, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) copied = std::unexpected(errno);
    if (got <= 0) break;
    copied = write({piece, static_cast<std::size_t>(got)});
    at += got;
  }
  ::close(unnamed);
  if (copied && ::fchmod(file_, info.st_mode & 07777) != 0) return std::unexpected(errno);
  return copied ? sync() : copied;
}

SysResult<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

SysResult<void> AtomicFile::sync() {
  if (::fsync(file_) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return std::unexpected(errno);
}

SysResult<void> AtomicFile::rename(IfPresent ifPresent) {
  if (ifPresent == IfPresent::Replace) {
    return orErrno(::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()));
  }
  auto moved = orErrno(::renameat2(folder_, temporary_.c_str(), folder_, name_.c_str(), RENAME_NOREPLACE));
  if (moved || (moved.error() != EINVAL && moved.error() != ENOSYS)) return moved;
  // The file system does not support these flags. linkat also refuses to replace an existing name.
  BOUGH_TRY(orErrno(::linkat(folder_, temporary_.c_str(), folder_, name_.c_str(), 0)));
  return orErrno(::unlinkat(folder_, temporary_.c_str(), 0));
}

SysResult<void> AtomicFile::publish(IfPresent ifPresent) {
  if (!hasTemporaryName_) {
    const bool replace = ifPresent == IfPresent::Replace;
    const char* name = replace ? temporary_.c_str() : name_.c_str();
    const auto linked = orErrno(::linkat(AT_FDCWD, nameOfDescriptor(file_).c_str(), folder_, name, AT_SYMLINK_FOLLOW));
    if (!linked && linked.error() == EEXIST) return linked;
    if (linked) {
      hasTemporaryName_ = replace;
    } else {
      BOUGH_TRY(copyToTemporary());
    }
  }
  if (hasTemporaryName_) {
    BOUGH_TRY(rename(ifPresent));
    hasTemporaryName_ = false;
  }
  return {};
}

void AtomicFile::removeLeftovers() const {
  removeLeftoversOf(folder_, "." + name_);
}

}  // namespace bough
