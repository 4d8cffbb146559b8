// What the answers in Claude Code's files cost, found without reading the rest of the files.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <vector>

namespace bough::transcript::claude_code {

/// Appends the answers of one file; `file` is its number. Memory is bounded by the longest line that is read.
Result<void> scanUsage(const std::string& path, std::size_t file, std::vector<TranscriptAnswer>& out);

}  // namespace bough::transcript::claude_code
