// The folder the tools work in, and every way of theirs to a file.
//
// A path is resolved once, to a Place: an open folder and the names below it. Both the question to the user and the
// work use that Place. Below the open folder no link is followed, so nothing that changes after the question was asked
// can lead the work to another file.
//
// A WorkingFolder is a value: copies share the open folder, and all const calls may come from any thread. Errors carry
// the path as the user knows it. Besides what each call names: ReadOnly (no permission), NoSpace, InvalidArgument (a
// name that is too long), Damaged (a link, a pipe or a folder is where it must not be) and Io, which is retryable when
// only descriptors are missing.
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
  /// Stays the Descriptor's; -1 when nothing is open.
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool isOpen() const { return number_ >= 0; }
  /// Gives the descriptor away: the caller closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  /// Does nothing when nothing is open. Errors are lost: sync what must be kept before.
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// Where a path leads. Keeps that folder open: as long as there is a Place, renaming folders above it leads nowhere
/// else. The file itself need not exist.
struct Place {
  std::shared_ptr<const Descriptor> folder = {};  ///< Open; the last part of the path that is surely a folder.
  std::vector<std::string> names = {};  ///< Below it: folders to make, then the file. Empty: the folder itself.
  std::string path = {};                ///< Absolute, without links: for the question and for messages.
  bool inside = false;                  ///< Whether it is the working folder or below it.
};

/// An open folder, and what may be done with files from there. The static calls take any Place, inside of it or not:
/// who must stay inside looks at Place::inside first.
class WorkingFolder {
 public:
  /// Opens a folder, following links. Fails with NotFound when there is no such folder, InvalidArgument when it is not
  /// one.
  [[nodiscard]] static Result<WorkingFolder> open(const std::string& path);

  /// Absolute and without links, as it was when it was opened.
  [[nodiscard]] const std::string& path() const { return root_; }
  /// The folder itself, whatever its path leads to meanwhile. Stays open as long as a copy of this object is there.
  [[nodiscard]] int descriptor() const { return folder_->get(); }

  /// Finds the place of a path that a model gave; relative paths begin in the working folder. Links on the way are
  /// followed now, and only now. What is not there is no failure: it is part of Place::names. InvalidArgument when the
  /// path is empty, longer than 4,096 bytes or holds a zero byte.
  [[nodiscard]] Result<Place> resolve(std::string_view given) const;

  /// Opens a regular file to read; never waits, as opening a pipe may. Fails with NotFound, or InvalidArgument when it
  /// is not a regular file.
  [[nodiscard]] static Result<Descriptor> openFile(const Place& place);
  /// Opens a folder to list. Fails with NotFound, or Damaged when it is not a folder.
  [[nodiscard]] static Result<Descriptor> openFolder(const Place& place);
  struct Content {
    std::string bytes = {};       ///< From the beginning.
    std::uint64_t sizeBytes = 0;  ///< Of the whole file, when it was opened.
  };
  /// Reads at most `limitBytes` of a file, and says how many bytes it has. Fails as openFile does.
  [[nodiscard]] static Result<Content> read(const Place& place, std::size_t limitBytes);
  /// The SHA-256 of all of a file, however long it is, as 64 hex digits. Reads it 64 KiB at a time.
  [[nodiscard]] static Result<std::string> digest(const Place& place);
  /// Replaces a file, or makes it and its folders: whole or not at all, and on disk when the call returns. A file that
  /// was there keeps its permissions; it is another one afterwards, so other names of it keep what it held. Fails with
  /// InvalidArgument when a folder or something that is not a regular file is there; folders that were made for it go
  /// again. Costs the bytes once more on disk while it writes, and a sync of the file and of each folder on the way.
  [[nodiscard]] static Result<void> write(const Place& place, std::string_view bytes);
  /// Removes a regular file; on disk when the call returns. Fails with NotFound, or InvalidArgument when it is not a
  /// regular file.
  [[nodiscard]] static Result<void> remove(const Place& place);
  /// Removes a folder below this one. False when it is not empty, not there, not a folder, or not below this one.
  [[nodiscard]] Result<bool> removeEmptyFolder(const std::string& path) const;

 private:
  WorkingFolder(std::string root, std::shared_ptr<const Descriptor> folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  std::string root_;
  std::shared_ptr<const Descriptor> folder_;
};

}  // namespace bough::agent
