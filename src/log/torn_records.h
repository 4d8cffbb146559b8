// Reads <session>.torn: the bytes that were moved aside from a log as torn (docs/format.md).
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/torn.h"
#include "log/file/log_files.h"

namespace bough {

/// Returns the records of a session's .torn file and the intact entries in them. Empty when the file does not exist.
Result<TornReport> readTornFile(const LogFolders& folders, std::string_view sessionId,
                                const EntrySerializer& serializer);

}  // namespace bough
