// The ids of sessions that were removed for good: `removed` in the store's folder, one a line. A session that a catalog
// has counted and that is neither in the store, nor in the trash, nor named here was removed past bough.
#pragma once

#include <string>
#include <unordered_set>

#include "base/system/file_system.h"

namespace bough {

/// Adds an id. The caller removes the session afterwards, and does so too when this fails: a full disk must not keep
/// anybody from making space.
SysResult<void> noteRemoved(Directory& root, const std::string& sessionId);

/// Erases from `ids` those that are named.
SysResult<void> eraseRemoved(Directory& root, std::unordered_set<std::string>& ids);

}  // namespace bough
