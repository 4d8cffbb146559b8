// The locks of other agents: a file or a folder that only one process can create. A lock that is old enough is taken
// over, as those agents do.
#pragma once

#include <bough/error.h>

#include <string>
#include <utility>

namespace bough::transcript {

/// OpenClaw's lock: a file `….lock` with {"pid","createdAt"}. It is stale after 30 s, or when its process is gone.
/// `acquire` fails with Busy after 10 s.
class LockFile {
 public:
  static Result<LockFile> acquire(const std::string& path);
  LockFile(LockFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  explicit LockFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// The lock of MyAgents: a folder. It is stale after 30 s. `acquire` fails with Busy after 10 s.
class LockFolder {
 public:
  static Result<LockFolder> acquire(const std::string& path);
  LockFolder(LockFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LockFolder& operator=(LockFolder&&) = delete;
  ~LockFolder();

 private:
  explicit LockFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace bough::transcript
