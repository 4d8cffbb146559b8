// Watches sessions by the names of their files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/system/file_system.h"
#include "bough/storage_backend.h"

namespace bough {

/// Watches these sessions in a folder of logs; all sessions when the list is empty.
Result<std::unique_ptr<ChangeWatcher>> watchSessions(Directory& folder, const std::vector<std::string>& sessionIds);

}  // namespace bough
