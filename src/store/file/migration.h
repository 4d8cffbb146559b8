// Replaces a whole log at once: to bring an older format to the present one, or to give a fork its own copy.
//
// Both write a new file beside the old one and swap the two with one rename, under the old file's lock. A migration
// does this:
//   1. Write <id>.jsonl.tmp, sync it, read it back and compare it with the old file entry by entry.
//   2. Link the old file as <id>.v0, sync the folder.
//   3. Rename the new file to <id>.jsonl, sync the folder.
// A crash before step 3 leaves the old session unchanged. The next run removes or reuses the leftover files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/environment.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"
#include "log/file/log_files.h"
#include "store/file/parts/attachments.h"

namespace bough {

/// Brings a log to the present format. Does nothing when it already has that format. An unreadable header is remade
/// with the origin that is left of it; Damaged when no origin is left and the log seems to be a fork's. Payloads that
/// look like a reference to an attachment are stored as attachments.
Result<MigrationResult> migrateLog(const LogFolders& folders, AttachmentFolder& attachments, std::string_view sessionId,
                                   const std::optional<ForkOrigin>& origin, const EntrySerializer& serializer,
                                   Environment& environment, int lockTimeoutMs);

/// Replaces a session's log by these entries, provided that its tail is `expectedTail`.
Result<void> rewriteLog(const LogFolders& folders, std::string_view sessionId, const std::vector<Entry>& entries,
                        std::string_view expectedTail, const EntrySerializer& serializer, int lockTimeoutMs);

struct Leftovers {
  std::vector<std::string> removed;
  std::vector<std::string> otherCopies;  ///< As in RepairReport.
};

/// Removes the files that interrupted operations on this session left.
Result<Leftovers> removeLeftovers(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

}  // namespace bough
