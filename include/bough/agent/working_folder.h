// The folder that the tools work in, and all their access to files.
//
// A path is resolved once, to a Place: an open folder and the names below it. The question to the user and the work
// itself use the same Place. Below the open folder no link is followed, so a change made after the question cannot
// redirect the work to another file.
//
// A WorkingFolder is a value: copies share the open folder, and any thread may make const calls. Errors show the path
// as the user knows it. Besides the errors that each call names, calls return ReadOnly (no permission), NoSpace,
// InvalidArgument (a name is too long), Damaged (an unexpected link, pipe or folder) and Io, which is retryable when
// the process has only run out of descriptors.
#pragma once

#include <bough/error.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bough::agent {

/// An open file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  /// Returns the descriptor, which this object still owns; -1 when nothing is open.
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool isOpen() const { return number_ >= 0; }
  /// Releases the descriptor to the caller, who must close it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  /// Closes the descriptor; does nothing when nothing is open. Errors are lost, so sync important data first.
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// The target of a path. Keeps its folder open: while the Place exists, renaming a folder above it does not change the
/// target. The file itself need not exist.
struct Place {
  std::shared_ptr<const Descriptor> folder = {};  ///< Open; the last part of the path known to be a folder.
  std::vector<std::string> names = {};  ///< Below it: folders to create, then the file. Empty: the folder itself.
  std::string path = {};                ///< Absolute, without links: for questions and messages.
  bool inside = false;                  ///< It is the working folder or below it.
};

/// An open folder, and file operations that start there. The static calls accept any Place; callers that must stay
/// inside the folder check Place::inside first.
class WorkingFolder {
 public:
  /// Opens a folder, following links. Fails with NotFound when it does not exist, and with InvalidArgument when it is
  /// not a folder.
  [[nodiscard]] static Result<WorkingFolder> open(const std::string& path);

  /// Returns the absolute path without links, as it was when the folder was opened.
  [[nodiscard]] const std::string& path() const { return root_; }
  /// Returns the folder itself, whatever its path leads to now. It stays open while a copy of this object exists.
  [[nodiscard]] int descriptor() const { return folder_->get(); }

  /// Resolves a path that a model gave; relative paths start in the working folder. Links on the way are followed now
  /// and never again. A missing file is not an error: it becomes part of Place::names. InvalidArgument when the path is
  /// empty, longer than 4,096 bytes, or contains a zero byte.
  [[nodiscard]] Result<Place> resolve(std::string_view given) const;

  /// Opens a regular file for reading. Never blocks, as opening a pipe could. Fails with NotFound, or with
  /// InvalidArgument when it is not a regular file.
  [[nodiscard]] static Result<Descriptor> openFile(const Place& place);
  /// Opens a folder for listing. Fails with NotFound, or with Damaged when it is not a folder.
  [[nodiscard]] static Result<Descriptor> openFolder(const Place& place);
  struct Content {
    std::string bytes = {};       ///< The start of the file.
    std::uint64_t sizeBytes = 0;  ///< Size of the whole file when it was opened.
  };
  /// Reads at most `limitBytes` of a file, and returns the file's size. Fails as openFile does.
  [[nodiscard]] static Result<Content> read(const Place& place, std::size_t limitBytes);
  /// Returns the SHA-256 of a whole file of any size, as 64 hex digits. Reads 64 KiB at a time.
  [[nodiscard]] static Result<std::string> digest(const Place& place);
  /// Replaces a file, or creates it and its folders: completely or not at all, and on disk when the call returns. An
  /// existing file keeps its permissions. The new content is a new file, so other hard links still have the old
  /// content. Fails with InvalidArgument when a folder or another non-regular file is there; folders that were created
  /// for it are removed again. While it writes, it needs disk space for a second copy; it syncs the file and each
  /// folder on the way.
  [[nodiscard]] static Result<void> write(const Place& place, std::string_view bytes);
  /// Removes a regular file; on disk when the call returns. Fails with NotFound, or with InvalidArgument when it is not
  /// a regular file.
  [[nodiscard]] static Result<void> remove(const Place& place);
  /// Removes a folder below this one. Returns false when it is not empty, missing, not a folder, or not below this one.
  [[nodiscard]] Result<bool> removeEmptyFolder(const std::string& path) const;

 private:
  WorkingFolder(std::string root, std::shared_ptr<const Descriptor> folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  std::string root_;
  std::shared_ptr<const Descriptor> folder_;
};

}  // namespace bough::agent
