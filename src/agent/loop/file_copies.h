// Copies of files before tools change them, and how the changes of a turn are undone.
//
// Before `write` or `edit` runs, the session gets a `custom` entry of kind `file_copy` with what the file held; large
// ones become attachments as every large payload does. The result of the call says, in its `meta`, what the file held
// afterwards. So a turn can be undone, and a file that somebody else has changed since is left alone.
#pragma once

#include <string>
#include <string_view>

#include "bough/agent/chat.h"

namespace bough::agent {

/// The payload of a copy of the file as it is now. A file that holds one of the secrets is not copied.
std::string fileCopyPayload(std::string_view toolCallId, const Place& place, const Secrets& secrets);
/// The meta of a result: what the file holds now.
std::string changedFileMeta(const Place& place);

/// The payload of an entry that says: of the changes of that turn none could be put back.
std::string passedPayload(std::string_view turnId);

/// Puts back what the last turn with changes, that was not undone yet, has changed in the folder. A turn that was
/// passed and of which still nothing can be put back does not count. NotFound when there is none.
Result<UndoReport> undoFileChanges(SessionStore& store, const StartingPoint& at, const WorkingFolder& folder);

}  // namespace bough::agent
