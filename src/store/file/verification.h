// Looks at every byte of a session and says what is not as it should be. Changes nothing.
#pragma once

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"
#include "log/session_log.h"
#include "store/sharing/sharing_session.h"

namespace bough {

/// `session`: of that log, for what it shares and its attachments.
Result<VerifyReport> verifyLog(SessionLog& log, SharingSession& session, const EntrySerializer& serializer);

/// How many of the lines that an index has are no entries: whoever sealed them had checked nothing.
Result<std::uint64_t> countNotEntries(SessionLog& log, const EntrySerializer& serializer);

}  // namespace bough
