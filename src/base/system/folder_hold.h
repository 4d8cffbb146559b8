// Whoever removes an empty folder must know that nobody has it open: the lock of the folder (flock) says so.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace bough {

/// Holds the lock of a folder until it ends.
class FolderHold {
 public:
  FolderHold() = default;
  FolderHold(FolderHold&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  FolderHold& operator=(FolderHold&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  ~FolderHold();

  /// Together with others. It waits a moment for whoever holds the folder alone, then goes on without; so it does where
  /// the file system has no such locks.
  static FolderHold share(const std::string& path);
  /// Alone; none when anybody else holds it.
  static std::optional<FolderHold> alone(const std::string& path);

 private:
  explicit FolderHold(int folder) : folder_(folder) {}

  int folder_ = -1;
};

}  // namespace bough
