// Copies files before tools change them, and undoes the changes of a turn.
//
// Before `write` or `edit` runs, the session gets a `custom` entry of kind `file_copy` with the old content of the
// file; large content becomes an attachment, like every large payload. The `meta` of the call's result holds the
// checksum of the new content. With both, a turn can be undone, and a file that somebody has changed since is left
// alone.
#pragma once

#include <string>
#include <string_view>

#include "bough/agent/chat.h"

namespace bough::agent {

/// Returns the payload for a copy of the current file. The content of a file that holds a secret is left out.
std::string fileCopyPayload(std::string_view toolCallId, const Place& place, const Secrets& secrets);
/// Returns the meta of a result: the checksum of the current file.
std::string changedFileMeta(const Place& place);

/// Returns the payload of an entry which records that none of that turn's changes could be undone.
std::string undoSkippedPayload(std::string_view turnId);

/// Undoes the changes of the last turn that changed files and was not undone yet. Skips a turn that an earlier undo
/// skipped and of which still nothing can be undone. Fails with NotFound when there is no such turn.
Result<UndoReport> undoFileChanges(SessionStore& store, const StartingPoint& at, const WorkingFolder& folder);

}  // namespace bough::agent
