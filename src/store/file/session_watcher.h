// Watching sessions by the names of their files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/system/file_system.h"
#include "bough/storage_backend.h"

namespace bough {

/// Watches these sessions of a folder of logs; all of them when there are none.
Result<std::unique_ptr<ChangeWatcher>> watchSessions(Directory& folder, const std::vector<std::string>& sessionIds);

}  // namespace bough
