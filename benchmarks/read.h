// The part of the read benchmarks that runs as a separate program, so that its memory can be measured.
#pragma once

#include <string>

namespace bough::bench {

/// Loads the last 200 entries of a branch and prints the memory used. Returns the exit code.
int readLastOf(const std::string& folder, const std::string& sessionId, const std::string& leaf);

}  // namespace bough::bench
