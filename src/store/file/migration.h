// Replacing a whole log at once: bringing an older format to the present one, and giving a fork its own copy.
//
// Both write a new file beside the old one and swap them with one rename, under the old file's lock. A migration is
//   1. write <id>.jsonl.tmp, sync it, read it back and compare it with the old file entry by entry;
//   2. link the old file as <id>.v0, sync the folder;
//   3. rename the new file over <id>.jsonl, sync the folder.
// A crash before 3 leaves the old session as it was, and what is left over is removed or used by the next run.
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

/// Brings a log to the present format. Does nothing when it is there already. A header that cannot be read is made
/// again, with the origin that is left of it; Damaged when there is none and the log seems to be a fork's. Payloads
/// that would be taken for the name of an attachment become one.
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

/// Removes what interrupted operations on this session left behind.
Result<Leftovers> removeLeftovers(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs);

}  // namespace bough
