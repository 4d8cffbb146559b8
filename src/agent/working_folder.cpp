#include "agent/working_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file_io.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxPathBytes = 4'096;

// Opens an absolute path that must not hold a link.
int openExactly(const std::string& path, int flags, mode_t mode = 0) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long opened = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (opened >= 0 || errno != ENOSYS) return static_cast<int>(opened);
  return ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode);  // kernels before 5.6
}

std::string parentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> makeFolders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && errno != EACCES && errno != EROFS) {
      return std::unexpected(systemError(errno, "make the folder", part));
    }
    if (slash == std::string::npos) return {};
  }
}

Result<void> writeAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(systemError(errno, "write to", path));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Descriptor::~Descriptor() {
  close();
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Result<WorkingFolder> WorkingFolder::open(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return std::unexpected(systemError(errno, "open", path));
  struct stat info{};
  if (::stat(resolved, &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is no folder", path));
  }
  return WorkingFolder(resolved);
}

Result<Place> WorkingFolder::resolve(std::string_view given) const {
  if (given.empty() || given.size() > kMaxPathBytes || given.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::InvalidArgument, "the path is empty, too long, or holds a zero byte");
  }
  std::filesystem::path whole(given);
  if (whole.is_relative()) whole = std::filesystem::path(root_) / whole;
  // The part that exists is resolved by the system; what is yet to be made has no links.
  std::error_code problem;
  const std::filesystem::path exact = std::filesystem::weakly_canonical(whole, problem);
  if (problem) return std::unexpected(systemError(problem.value(), "find", std::string(given)));
  Place place{.path = exact.string()};
  while (place.path.size() > 1 && place.path.ends_with('/')) place.path.pop_back();
  place.inside = place.path == root_ || place.path.starts_with(root_ == "/" ? root_ : root_ + "/");
  return place;
}

Result<Descriptor> WorkingFolder::openToRead(const Place& place) {
  Descriptor file(openExactly(place.path, O_RDONLY | O_NONBLOCK));
  if (file.get() < 0) return std::unexpected(systemError(errno, "read", place.path));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return std::unexpected(systemError(errno, "read", place.path));
  if (!S_ISREG(info.st_mode)) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("{} is {}", place.path, S_ISDIR(info.st_mode) ? "a folder; ls lists it" : "no regular file"));
  }
  return file;
}

Result<WorkingFolder::Content> WorkingFolder::read(const Place& place, std::size_t limitBytes) {
  auto file = openToRead(place);
  if (!file) return std::unexpected(file.error());
  struct stat info{};
  (void)::fstat(file->get(), &info);
  Content content{.bytes = {}, .sizeBytes = static_cast<std::uint64_t>(info.st_size)};
  char part[65'536];
  while (content.bytes.size() < limitBytes) {
    const ssize_t got = ::read(file->get(), part, std::min(sizeof part, limitBytes - content.bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(systemError(errno, "read", place.path));
    if (got == 0) break;
    content.bytes.append(part, static_cast<std::size_t>(got));
  }
  return content;
}

Result<void> WorkingFolder::write(const Place& place, std::string_view bytes) {
  const std::string parent = parentOf(place.path);
  const std::string name = place.path.substr(place.path.rfind('/') + 1);
  if (name.empty()) return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder", place.path));
  if (auto made = makeFolders(parent); !made) return made;
  const Descriptor folder(openExactly(parent, O_RDONLY | O_DIRECTORY));
  if (folder.get() < 0) return std::unexpected(systemError(errno, "open", parent));
  struct stat old{};
  const bool exists = ::fstatat(folder.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is no regular file", place.path));
  }
  const std::string temporary = fmt::format(".{}.{}.tmp", name.substr(0, 100), ::getpid());
  (void)::unlinkat(folder.get(), temporary.c_str(), 0);
  Descriptor file(::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return std::unexpected(systemError(errno, "write to", place.path));
  auto written = writeAll(file.get(), bytes, place.path);
  if (exists) (void)::fchmod(file.get(), old.st_mode & 07777);
  file.close();
  if (written && ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    written = std::unexpected(systemError(errno, "write to", place.path));
  }
  if (!written) (void)::unlinkat(folder.get(), temporary.c_str(), 0);
  return written;
}

}  // namespace bough::agent
