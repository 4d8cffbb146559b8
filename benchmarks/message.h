// The parts of the message benchmarks that run as programs of their own.
#pragma once

#include <string>

namespace bough::bench {

/// Opens a session, loads all of its branch, normalizes every message, and prints the memory that took.
int resumeAll(const std::string& folder, const std::string& sessionId, const std::string& leaf);

/// Prints how many tokens estimateTokens gives a file.
int estimateFile(const std::string& path);

}  // namespace bough::bench
