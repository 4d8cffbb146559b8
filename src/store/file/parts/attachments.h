// Attachments of a file store: each content is stored once, under its SHA-256.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/environment.h"
#include "base/system/file_system.h"
#include "bough/error.h"
#include "bough/storage_backend.h"

namespace bough {

/// The folder `attachments/sha256/ab/cdef…` in the store. Thread-safe.
class AttachmentFolder {
 public:
  AttachmentFolder(std::shared_ptr<Directory> store, Environment& environment, int lockTimeoutMs);

  Result<std::unique_ptr<Hold>> hold();
  Result<void> put(const std::string& sha256, std::string_view bytes);
  Result<std::string> get(const std::string& sha256);
  /// Returns the hashes of all attachments, and the names of files whose writer died: no entry names those, so they are
  /// unused.
  Result<std::vector<std::string>> list();
  Result<std::size_t> remove(const std::vector<std::string>& sha256s,
                             const std::function<Result<bool>(const std::string&)>& stillUnused);

  /// Makes the removal of these attachments durable.
  Result<void> syncFoldersOf(const std::vector<std::string>& sha256s);

 private:
  Result<std::unique_ptr<Directory>> root(bool create);
  Result<std::unique_ptr<Directory>> bucket(const std::string& sha256, bool create);
  Result<std::unique_ptr<File>> lockFile(LockKind kind);

  std::shared_ptr<Directory> store_;
  Environment& environment_;
  int lockTimeoutMs_;
  std::atomic<bool> rootSynced_ = false;  // the name of the folder sha256 is on the disk
};

}  // namespace bough
