// Archives of rarely used sessions: compresses a log in blocks, so that it can still be read in place, and restores it.
#pragma once

#include <string_view>
#include <vector>

#include "bough/error.h"
#include "bough/storage_backend.h"
#include "log/file/log_files.h"

namespace bough {

/// A compressed file of a session whose log is another file.
struct PackedCopy {
  std::shared_ptr<Directory> folder;
  std::string name;
  bool isRedundant = false;  ///< The log begins with all bytes of this copy.

  /// For messages.
  [[nodiscard]] std::string path() const { return folder->path() + "/" + name; }
};

/// Returns the compressed files beside the log. They were left by an interrupted archiving or restoring, or put there
/// by a user.
Result<std::vector<PackedCopy>> copiesBeside(const LogFolders& folders, std::string_view sessionId, OpenLog& log);

/// Removes the copies that contain nothing more than the log. Returns all copies, the removed ones included. The caller
/// has locked the log.
Result<std::vector<PackedCopy>> dropRedundantCopies(const LogFolders& folders, std::string_view sessionId,
                                                    OpenLog& log);

/// Compresses a session's log into the archive folder, checks that it unpacks to the same bytes, and only then removes
/// the plain log. Does nothing when the session is already compressed. Damaged when a compressed file with different
/// content exists.
Result<ArchiveSizes> archiveLog(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

/// Unpacks a compressed log to the place where appends expect it, and only then removes the compressed file.
Result<void> restoreArchive(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

}  // namespace bough
