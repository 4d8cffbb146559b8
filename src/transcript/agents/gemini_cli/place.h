// Where Gemini CLI keeps its sessions.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript::gemini_cli {

std::vector<std::string> folders(const TranscriptHome& home);
bool isTranscript(std::string_view relative);
Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts);
/// Marks the folder as that of the session's project, so that Gemini CLI recognizes it.
Result<void> announce(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path);

}  // namespace bough::transcript::gemini_cli
