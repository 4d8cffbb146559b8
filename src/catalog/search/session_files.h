// The files of a store's sessions, to look at their bytes as they are.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/system/file_system.h"

namespace bough::catalog {

class SessionFiles {
 public:
  /// `folder` is empty for a store that has none: then there is no file.
  explicit SessionFiles(const std::string& folder);

  /// Null when the session has no plain file, or it cannot be opened.
  [[nodiscard]] std::unique_ptr<File> open(const std::string& sessionId) const;
  /// Of its plain or packed file.
  [[nodiscard]] std::optional<FileInfo> info(const std::string& sessionId) const;

 private:
  std::unique_ptr<Directory> sessions_;
  std::unique_ptr<Directory> archive_;
};

}  // namespace bough::catalog
