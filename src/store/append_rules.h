// The rules of an append, the same for every backend: what a batch may hold, what is filled in, when an entry counts as
// a duplicate, and when the tail has moved. A backend calls this while it holds the session.
#pragma once

#include <vector>

#include "base/environment.h"
#include "base/ids.h"
#include "bough/entry_serializer.h"
#include "bough/error.h"
#include "bough/storage_backend.h"
#include "log/session_log.h"

namespace bough {

/// Checks `request` against the log as it is, and what is to be written before it, which `lines` holds; adds what it
/// would write to them. The result counts what would be appended. When it fails, what it added is of no use.
Result<AppendResult> prepareBatch(LogView& log, const AppendRequest& request, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, NewLines& lines);

/// Whether entries of this kind can be hidden: not those by which a session is read.
bool canBeRedacted(EntryKind kind);

/// The Conflict that says which tail a session has instead of the expected one.
Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual);

/// The rules for a session's first batch: the header and what stands right behind it.
Result<NewLines> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer);

}  // namespace bough
