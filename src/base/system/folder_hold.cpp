#include "base/system/folder_hold.h"

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

FolderHold::~FolderHold() {
  if (folder_ >= 0) ::close(folder_);
}

FolderHold FolderHold::share(const std::string& path) {
  constexpr int kMostTries = 200;
  FolderHold hold(openFolderAt(path));
  for (int tries = 0; hold.folder_ >= 0 && tries < kMostTries; ++tries) {
    if (::flock(hold.folder_, LOCK_SH | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return hold;
}

std::optional<FolderHold> FolderHold::alone(const std::string& path) {
  FolderHold hold(openFolderAt(path));
  if (hold.folder_ < 0 || ::flock(hold.folder_, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return hold;
}

}  // namespace bough
