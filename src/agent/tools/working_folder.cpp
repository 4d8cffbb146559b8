#include "bough/agent/working_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "agent/tools/builtin.h"
#include "agent/tools/path_walk.h"
#include "base/bytes/sha256.h"
#include "base/system/atomic_file.h"
#include "base/system/file_io.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxPathBytes = 4'096;

// Folders that were created for a file. Removes them again when the file is not created; a folder in which somebody
// else has put something stays.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
      (void)::unlinkat(folder->parent->get(), folder->name.c_str(), AT_REMOVEDIR);
    }
  }

  // Returns 0 or errno. A folder that already exists does not count as created.
  [[nodiscard]] int make(const std::shared_ptr<const Descriptor>& parent, const std::string& name) {
    if (::mkdirat(parent->get(), name.c_str(), 0777) != 0) return errno == EEXIST ? 0 : errno;
    folders_.push_back({.parent = parent, .name = name});
    return 0;
  }
  void keep() { folders_.clear(); }

 private:
  struct Folder {
    std::shared_ptr<const Descriptor> parent;
    std::string name;
  };
  std::vector<Folder> folders_;
};

// Opens the folder that holds the last name of a place, without following links.
Result<std::shared_ptr<const Descriptor>> openParent(const Place& place, MadeFolders* made = nullptr) {
  std::shared_ptr<const Descriptor> folder = place.folder;
  for (std::size_t i = 0; i + 1 < place.names.size(); ++i) {
    const std::string& name = place.names[i];
    if (made != nullptr) {
      if (auto error = made->make(folder, name))
        return std::unexpected(fileError(error, "make the folders of", place.path));
    }
    Descriptor next(::openat(folder->get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.isOpen()) return std::unexpected(fileError(errno, "open", place.path));
    folder = std::make_shared<const Descriptor>(std::move(next));
  }
  return folder;
}

Result<void> sync(int descriptor, const std::string& path) {
  // Some file systems cannot sync a folder; the file in it is synced already.
  if (::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return std::unexpected(fileError(errno, "sync", path));
}

// Makes a renamed file, and the folders that were created for it, survive a power loss.
Result<void> syncFolders(const Place& place) {
  std::shared_ptr<const Descriptor> folder = place.folder;
  for (std::size_t i = 0; i < place.names.size(); ++i) {
    const Descriptor opened(::openat(folder->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.isOpen()) {
      BOUGH_TRY(sync(opened.get(), place.path));
    }
    if (i + 1 == place.names.size()) break;
    Descriptor next(::openat(folder->get(), place.names[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.isOpen()) return std::unexpected(fileError(errno, "open", place.path));
    folder = std::make_shared<const Descriptor>(std::move(next));
  }
  return {};
}

}  // namespace

Result<WorkingFolder> WorkingFolder::open(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return std::unexpected(fileError(errno, "open", path));
  Descriptor folder(::open(resolved, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.isOpen()) {
    if (errno == ENOTDIR) return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a folder", path));
    return std::unexpected(fileError(errno, "open", path));
  }
  return WorkingFolder(resolved, std::make_shared<const Descriptor>(std::move(folder)));
}

Result<Place> WorkingFolder::resolve(std::string_view given) const {
  if (given.empty() || given.size() > kMaxPathBytes || given.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::InvalidArgument, "the path is empty, too long, or holds a zero byte");
  }
  BOUGH_TRY(WalkedPath walked,
            walkPath(given.front() == '/' ? std::string(given) : fmt::format("{}/{}", root_, given), descriptor()));
  return Place{.folder = std::move(walked.folder),
               .names = std::move(walked.names),
               .path = std::move(walked.path),
               .inside = walked.passedMark};
}

Result<Descriptor> WorkingFolder::openFile(const Place& place) {
  if (place.names.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder; ls lists it", place.path));
  }
  BOUGH_TRY(const auto folder, openParent(place));
  Descriptor file(
      ::openat(folder->get(), place.names.back().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  struct stat info{};
  if (!file.isOpen() || ::fstat(file.get(), &info) != 0) {
    return std::unexpected(fileError(errno, "read", place.path));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("{} is {}", place.path, S_ISDIR(info.st_mode) ? "a folder; ls lists it" : "not a regular file"));
  }
  return file;
}

Result<Descriptor> WorkingFolder::openFolder(const Place& place) {
  BOUGH_TRY(const auto parent, openParent(place));
  const char* name = place.names.empty() ? "." : place.names.back().c_str();
  Descriptor folder(::openat(parent->get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.isOpen()) return std::unexpected(fileError(errno, "list", place.path));
  return folder;
}

namespace {

// Passes the file to `take` piece by piece, at most `limitBytes`.
Result<void> readPieces(const Place& place, int file, std::uint64_t limitBytes,
                        const std::function<void(std::string_view)>& take) {
  char piece[65'536];
  while (limitBytes > 0) {
    const ssize_t got =
        ::read(file, piece, static_cast<std::size_t>(std::min<std::uint64_t>(sizeof piece, limitBytes)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(fileError(errno, "read", place.path));
    if (got == 0) break;
    take({piece, static_cast<std::size_t>(got)});
    limitBytes -= static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

Result<WorkingFolder::Content> WorkingFolder::read(const Place& place, std::size_t limitBytes) {
  BOUGH_TRY(const Descriptor file, openFile(place));
  struct stat info{};
  (void)::fstat(file.get(), &info);
  Content content{.bytes = {}, .sizeBytes = static_cast<std::uint64_t>(info.st_size)};
  BOUGH_TRY(readPieces(place, file.get(), limitBytes, [&](std::string_view piece) { content.bytes += piece; }));
  return content;
}

Result<std::string> WorkingFolder::digest(const Place& place) {
  BOUGH_TRY(const Descriptor file, openFile(place));
  Sha256 sum;
  BOUGH_TRY(readPieces(place, file.get(), UINT64_MAX, [&](std::string_view piece) { sum.add(piece); }));
  return sum.hex();
}

Result<void> WorkingFolder::write(const Place& place, std::string_view bytes) {
  if (place.names.empty()) return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder", place.path));
  MadeFolders made;
  BOUGH_TRY(const auto folder, openParent(place, &made));
  const std::string& name = place.names.back();
  struct stat old{};
  const bool exists = ::fstatat(folder->get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a regular file", place.path));
  }
  auto file = AtomicFile::create(folder->get(), name, 0666);
  if (!file) return std::unexpected(fileError(file.error(), "write to", place.path));
  auto written = file->write(bytes);
  if (exists) (void)::fchmod(file->descriptor(), old.st_mode & 07777);
  if (written) written = file->sync();
  if (written) written = file->publish(IfPresent::Replace);
  if (!written) return std::unexpected(fileError(written.error(), "write to", place.path));
  made.keep();
  file->removeLeftovers();
  return syncFolders(place);
}

Result<void> WorkingFolder::remove(const Place& place) {
  BOUGH_TRY(openFile(place));  // only regular files
  BOUGH_TRY(const auto folder, openParent(place));
  if (::unlinkat(folder->get(), place.names.back().c_str(), 0) != 0) {
    return std::unexpected(fileError(errno, "remove", place.path));
  }
  return syncFolders(place);
}

Result<bool> WorkingFolder::removeEmptyFolder(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return false;
  BOUGH_TRY(const Place parent, resolve(std::string_view(path).substr(0, slash)));
  if (!parent.inside || !parent.names.empty()) return false;
  if (::unlinkat(parent.folder->get(), path.c_str() + slash + 1, AT_REMOVEDIR) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT || errno == ENOTDIR) return false;
  return std::unexpected(fileError(errno, "remove", path));
}

}  // namespace bough::agent
