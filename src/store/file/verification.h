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

}  // namespace bough
