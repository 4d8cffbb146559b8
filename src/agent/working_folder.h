// The folder the tools work in, and every way of theirs to a file.
//
// A path is first resolved: links are followed, and the result says whether it lies inside. Then exactly that result is
// opened, with no link followed any more, so that nothing can be swapped in between to lead elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "bough/error.h"

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
  ~Descriptor();
  [[nodiscard]] int get() const { return number_; }
  void close();

 private:
  int number_;
};

/// A path as the system sees it.
struct Place {
  std::string path;     ///< Absolute, without links; the last parts may not exist yet.
  bool inside = false;  ///< Whether it is the working folder or below it.
};

class WorkingFolder {
 public:
  /// Fails with NotFound when there is no such folder.
  static Result<WorkingFolder> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return root_; }

  /// Where a path given by a model leads; relative ones begin in the working folder.
  [[nodiscard]] Result<Place> resolve(std::string_view given) const;

  /// Opens a file to read. Fails with NotFound, or InvalidArgument when it is no regular file.
  [[nodiscard]] static Result<Descriptor> openToRead(const Place& place);
  /// Reads at most `limitBytes` of a file, and says how many bytes it has.
  struct Content {
    std::string bytes;
    std::uint64_t sizeBytes = 0;
  };
  [[nodiscard]] static Result<Content> read(const Place& place, std::size_t limitBytes);
  /// Replaces a file, or makes it and its folders: whole or not at all.
  [[nodiscard]] static Result<void> write(const Place& place, std::string_view bytes);

 private:
  explicit WorkingFolder(std::string root) : root_(std::move(root)) {}
  std::string root_;
};

}  // namespace bough::agent
