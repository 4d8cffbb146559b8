// A file that gets its name only when it is whole, outside of a store.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/system/file_io.h"

namespace bough {

/// Until place() the file has no name, so a program that is killed leaves nothing (O_TMPFILE). Where the file system
/// cannot do that it is called temporaryName("." + name); removeLeft() of the next writer removes such a file that is
/// more than an hour old.
class WholeFile {
 public:
  /// Opens a new file for writing. `folder` is an open folder and must stay open; `name` is the name of the file there.
  static SysResult<WholeFile> create(int folder, std::string_view name, mode_t mode);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  [[nodiscard]] int descriptor() const { return file_; }
  SysResult<void> write(std::string_view bytes);
  /// A file system that cannot sync is not an error.
  SysResult<void> sync();
  /// Gives it its name. EEXIST when the name is taken and must not be replaced.
  SysResult<void> place(IfPresent ifPresent);
  /// Removes what killed writers of this file left. It lists the folder.
  void removeLeft() const;

 private:
  WholeFile(int folder, std::string_view name);
  SysResult<void> openTemporary(mode_t mode);
  SysResult<void> copyToTemporary();
  SysResult<void> rename(IfPresent ifPresent);

  int folder_;
  std::string name_;
  std::string temporary_;
  int file_ = -1;
  bool hasTemporaryName_ = false;
};

}  // namespace bough
