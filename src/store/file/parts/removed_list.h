// The ids of sessions that were removed for good: the file `removed` in the store's folder, one id per line. If a
// catalog has counted a session that is neither in the store, nor in the trash, nor in this file, it was removed
// without bough.
#pragma once

#include <string>
#include <unordered_set>

#include "base/system/file_system.h"

namespace bough {

/// Adds an id. The caller removes the session afterwards, even when this fails: a full disk must not keep anybody from
/// freeing space.
SysResult<void> noteRemoved(Directory& root, const std::string& sessionId);

/// Removes the recorded ids from `ids`.
SysResult<void> eraseRemoved(Directory& root, std::unordered_set<std::string>& ids);

}  // namespace bough
