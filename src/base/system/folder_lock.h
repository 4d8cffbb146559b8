// The lock of a folder (flock), which tells whether anybody has the folder open. An empty folder may be removed only
// when nobody does.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace bough {

/// Holds the lock of a folder for the lifetime of this object.
class FolderLock {
 public:
  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  ~FolderLock();

  /// Takes a shared lock. Waits a moment while another process holds the folder exclusively, then continues without a
  /// lock. Also continues without a lock when the file system does not support locks.
  static FolderLock shared(const std::string& path);
  /// Takes the lock exclusively; std::nullopt when anybody else holds it.
  static std::optional<FolderLock> tryExclusive(const std::string& path);

 private:
  explicit FolderLock(int folder) : folder_(folder) {}

  int folder_ = -1;
};

}  // namespace bough
