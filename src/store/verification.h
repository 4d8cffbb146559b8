// Looks at every byte of a session and says what is not as it should be. Changes nothing.
#pragma once

#include "bough/entry_serializer.h"
#include "bough/error.h"
#include "bough/report.h"
#include "bough/storage_backend.h"
#include "log/session_log.h"

namespace bough {

Result<VerifyReport> verifyLog(SessionLog& log, const EntrySerializer& serializer, StorageBackend& backend);

}  // namespace bough
