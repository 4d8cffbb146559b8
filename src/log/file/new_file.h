// Files that appear complete or not at all, and durable removal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/system/file_system.h"
#include "bough/error.h"
#include "log/format/line.h"

namespace bough {

/// A file that gets its name only when it is complete and synced. Otherwise it is removed with this object. The caller
/// holds a lock that keeps others from creating the same file, so an existing temporary file was left by a crash.
class NewFile {
 public:
  NewFile(Directory& folder, std::string_view name);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Result<void> create();
  Result<void> add(std::string_view bytes);
  /// Adds an encoded entry as a batch of one.
  Result<void> addEntry(std::string_view text);
  Result<void> sync();
  /// Renames the file to its name, replacing an existing file, and syncs the folder.
  Result<void> publish();
  /// Gives the file another name than its own, permanently. AlreadyExists when that name is taken.
  Result<void> publishAs(std::string_view name);

  [[nodiscard]] std::shared_ptr<File> file() const { return file_; }
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Directory& folder_;
  std::string name_;
  std::string temporary_;
  std::shared_ptr<File> file_;
  std::uint64_t size_ = 0;
  SealDigits lastSeal_;
  bool isPublished_ = false;
};

/// Removes a file and syncs its folder.
Result<void> removeDurably(Directory& folder, std::string_view name);

}  // namespace bough
