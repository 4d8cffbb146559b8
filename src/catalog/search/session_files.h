// The files of a store's sessions, for reading their raw bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/system/file_system.h"

namespace bough::catalog {

class SessionFiles {
 public:
  /// `folder` is empty for a store without files.
  explicit SessionFiles(const std::string& folder);

  /// Returns null when the session has no uncompressed file, or when the file cannot be opened.
  [[nodiscard]] std::unique_ptr<File> open(const std::string& sessionId) const;
  /// Returns information on its uncompressed or packed file.
  [[nodiscard]] std::optional<FileInfo> info(const std::string& sessionId) const;

 private:
  std::unique_ptr<Directory> sessions_;
  std::unique_ptr<Directory> archive_;
};

}  // namespace bough::catalog
