// Cold sessions: a log compressed in blocks, which reads as before, and the way back.
#pragma once

#include <string_view>

#include "bough/error.h"
#include "bough/storage_backend.h"
#include "log/log_files.h"

namespace bough {

/// Compresses a session's log into the archive folder, checks that it unpacks to the same bytes, and only then removes
/// the plain one. A session that is compressed already stays as it is.
Result<ArchiveSizes> archiveLog(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

/// Unpacks a compressed log to where it is appended to, and only then removes the compressed one.
Result<void> restoreArchive(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

}  // namespace bough
