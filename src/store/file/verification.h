// Checks every byte of a session and reports what is wrong. Changes nothing.
#pragma once

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"
#include "log/session_log.h"
#include "store/sharing/sharing_session.h"

namespace bough {

/// Verifies a log. `session` is the log's session, which provides its shared history and its attachments.
Result<VerifyReport> verifyLog(SessionLog& log, SharingSession& session, const EntrySerializer& serializer);

/// Returns how many indexed lines are not entries: their seal is right, but their writer did not check them.
Result<std::uint64_t> countNotEntries(SessionLog& log, const EntrySerializer& serializer);

}  // namespace bough
