// What was set aside from a log as torn: reading <session>.torn (docs/format.md).
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/torn.h"
#include "log/file/log_files.h"

namespace bough {

/// The records of a session's .torn file, and which entries in them are intact. Empty when there is no such file.
Result<TornReport> readTornFile(const LogFolders& folders, std::string_view sessionId,
                                const EntrySerializer& serializer);

}  // namespace bough
