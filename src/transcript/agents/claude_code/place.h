// Where Claude Code keeps its sessions.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript::claude_code {

/// The name of the folder for the sessions of a project: every UTF-16 unit of its path that is not a letter or a digit
/// becomes `-`; a name of more than 200 is cut, with a hash of the path.
std::string projectFolder(std::string_view cwd);

std::vector<std::string> folders(const TranscriptHome& home);
bool isTranscript(std::string_view relative);
Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts);

}  // namespace bough::transcript::claude_code
