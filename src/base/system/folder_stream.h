// Lists the names in an open folder. The stream is always closed, also when memory runs out between two names.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace bough {

struct CloseFolderStream {
  void operator()(DIR* stream) const { ::closedir(stream); }
};
using FolderStream = std::unique_ptr<DIR, CloseFolderStream>;

/// Returns null on failure; errno has the reason. `folder` stays open, and its read position does not change.
inline FolderStream streamOf(int folder) {
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return nullptr;
  FolderStream stream(::fdopendir(own));
  if (stream != nullptr) return stream;
  const int why = errno;
  ::close(own);
  errno = why;
  return nullptr;
}

}  // namespace bough
