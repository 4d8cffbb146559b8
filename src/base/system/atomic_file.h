// Writes a file outside of a store that appears under its name only when it is complete.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/system/file_io.h"

namespace bough {

/// The file has no name until publish(), so a killed program leaves nothing behind (O_TMPFILE). On file systems without
/// O_TMPFILE the file has the name temporaryName("." + name); removeLeftovers() of a later writer removes such a file
/// when it is more than an hour old.
class AtomicFile {
 public:
  /// Opens a new file for writing. `folder` is an open folder and must stay open; `name` is the name of the file in it.
  static SysResult<AtomicFile> create(int folder, std::string_view name, mode_t mode);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] int descriptor() const { return file_; }
  SysResult<void> write(std::string_view bytes);
  /// Succeeds on a file system that does not support sync.
  SysResult<void> sync();
  /// Gives the file its name. Fails with EEXIST when the name is taken and may not be replaced.
  SysResult<void> publish(IfPresent ifPresent);
  /// Removes temporary files that killed writers of this file left. Reads the whole folder.
  void removeLeftovers() const;

 private:
  AtomicFile(int folder, std::string_view name);
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
