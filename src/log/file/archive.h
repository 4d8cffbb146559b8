// Cold sessions: a log compressed in blocks, which reads as before, and the way back.
#pragma once

#include <string_view>
#include <vector>

#include "bough/error.h"
#include "bough/storage_backend.h"
#include "log/file/log_files.h"

namespace bough {

/// A compressed file of a session that is not the one that counts.
struct PackedCopy {
  std::shared_ptr<Directory> folder;
  std::string name;
  bool covered = false;  ///< All that it holds is at the beginning of the log that counts.

  /// For messages.
  [[nodiscard]] std::string path() const { return folder->path() + "/" + name; }
};

/// The compressed files beside the log that counts. They are left by an interrupted archiving or restoring, or somebody
/// put them there.
Result<std::vector<PackedCopy>> copiesBeside(const LogFolders& folders, std::string_view sessionId, OpenLog& log);

/// Removes those of them that hold nothing more, and returns them all. The caller has locked the log.
Result<std::vector<PackedCopy>> dropCopies(const LogFolders& folders, std::string_view sessionId, OpenLog& log);

/// Compresses a session's log into the archive folder, checks that it unpacks to the same bytes, and only then removes
/// the plain one. A session that is compressed already stays as it is. Damaged when there is a compressed file that
/// holds something else.
Result<ArchiveSizes> archiveLog(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

/// Unpacks a compressed log to where it is appended to, and only then removes the compressed one.
Result<void> restoreArchive(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

}  // namespace bough
