// The locks of other agents: a file or a folder that only one process can make. Whoever finds one that is old enough
// takes it over, as those agents do.
#pragma once

#include <bough/error.h>

#include <string>
#include <utility>

namespace bough::transcript {

/// OpenClaw's: a file `….lock` with {"pid","createdAt"}. Stale after 30 s, or when the process is gone. Busy after 10
/// s.
class LockFile {
 public:
  static Result<LockFile> take(const std::string& path);
  LockFile(LockFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  explicit LockFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// MyAgents': a folder. Stale after 30 s. Busy after 10 s.
class LockFolder {
 public:
  static Result<LockFolder> take(const std::string& path);
  LockFolder(LockFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LockFolder& operator=(LockFolder&&) = delete;
  ~LockFolder();

 private:
  explicit LockFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace bough::transcript
