// Where Claude Code keeps its sessions.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript::claude_code {

/// Returns the name of the folder for the sessions of a project: its path with every UTF-16 unit that is not a letter
/// or a digit replaced by `-`. A name of more than 200 characters is cut and gets a hash of the path.
std::string projectFolder(std::string_view cwd);

std::vector<std::string> folders(const TranscriptHome& home);
bool isTranscript(std::string_view relative);
Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts);

}  // namespace bough::transcript::claude_code
