#include "base/system/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace bough {
namespace {

int openFolderAt(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);
}

FolderLock FolderLock::shared(const std::string& path) {
  constexpr int kMaxTries = 200;
  FolderLock lock(openFolderAt(path));
  for (int tries = 0; lock.folder_ >= 0 && tries < kMaxTries; ++tries) {
    if (::flock(lock.folder_, LOCK_SH | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return lock;
}

std::optional<FolderLock> FolderLock::tryExclusive(const std::string& path) {
  FolderLock lock(openFolderAt(path));
  if (lock.folder_ < 0 || ::flock(lock.folder_, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return lock;
}

}  // namespace bough
