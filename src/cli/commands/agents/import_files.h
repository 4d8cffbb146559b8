// Imports some files into a store.
#pragma once

#include <string>
#include <vector>

#include "bough/store.h"
#include "bough/transcript.h"

namespace bough::cli {

/// Imports one file after the other.
std::vector<Result<ImportResult>> importSequentially(SessionStore& store, const std::vector<std::string>& paths);

/// Imports with several threads, as long as the files together fit into the memory limit. Of several files of one
/// session, only the first is imported; the others fail with Conflict, and so does a file that continues another
/// session. Pass these to importSequentially.
std::vector<Result<ImportResult>> importInParallel(SessionStore& store, const std::vector<std::string>& paths);

}  // namespace bough::cli
