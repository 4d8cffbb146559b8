// The folder the tools work in, and every way of theirs to a file.
//
// A path is resolved once, to a Place: an open folder and the names below it. Both the question to the user and the
// work use that Place. Below the open folder no link is followed, so nothing that changes after the question was asked
// can lead the work to another file.
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
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool isOpen() const { return number_ >= 0; }
  /// Gives the descriptor away: the caller closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// Where a path leads.
struct Place {
  std::shared_ptr<const Descriptor> folder;  ///< Open; the last part of the path that is surely a folder.
  std::vector<std::string> names;            ///< Below it: folders to make, then the file. Empty: the folder itself.
  std::string path;                          ///< Absolute, without links: for the question and for messages.
  bool inside = false;                       ///< Whether it is the working folder or below it.
};

class WorkingFolder {
 public:
  /// Fails with NotFound when there is no such folder.
  static Result<WorkingFolder> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return root_; }
  /// The folder itself, whatever its path leads to meanwhile.
  [[nodiscard]] int descriptor() const { return folder_->get(); }

  /// Finds the place of a path that a model gave; relative paths begin in the working folder.
  [[nodiscard]] Result<Place> resolve(std::string_view given) const;

  /// Opens a regular file to read. Fails with NotFound, or InvalidArgument when it is not a regular file.
  [[nodiscard]] static Result<Descriptor> openFile(const Place& place);
  /// Opens a folder to list. Fails with NotFound, or InvalidArgument when it is not a folder.
  [[nodiscard]] static Result<Descriptor> openFolder(const Place& place);
  /// Reads at most `limitBytes` of a file, and says how many bytes it has.
  struct Content {
    std::string bytes;
    std::uint64_t sizeBytes = 0;
  };
  [[nodiscard]] static Result<Content> read(const Place& place, std::size_t limitBytes);
  /// The SHA-256 of all of a file, however long it is.
  [[nodiscard]] static Result<std::string> digest(const Place& place);
  /// Replaces a file, or makes it and its folders: whole or not at all, and on disk when the call returns.
  [[nodiscard]] static Result<void> write(const Place& place, std::string_view bytes);
  /// Removes a regular file; on disk when the call returns. Fails with NotFound, or InvalidArgument.
  [[nodiscard]] static Result<void> remove(const Place& place);
  /// Removes a folder below this one. False when it is not empty, or not there.
  [[nodiscard]] Result<bool> removeEmptyFolder(const std::string& path) const;

 private:
  WorkingFolder(std::string root, std::shared_ptr<const Descriptor> folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  std::string root_;
  std::shared_ptr<const Descriptor> folder_;
};

}  // namespace bough::agent
