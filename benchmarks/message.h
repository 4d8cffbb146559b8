// The parts of the message benchmarks that run as separate programs.
#pragma once

#include <string>

namespace bough::bench {

/// Opens a session, loads its whole branch, normalizes every message, and prints the memory used.
int resumeAll(const std::string& folder, const std::string& sessionId, const std::string& leaf);

/// Prints the result of estimateTokens for a file.
int estimateFile(const std::string& path);

}  // namespace bough::bench
