// Adapts the lines that an agent wrote to a project that moved, or to a session that gets another id.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

#include "transcript/model/agent.h"

namespace bough::transcript {

/// Returns whether the options require that.
bool isAdapted(const WriteTranscriptOptions& options);

/// Returns the lines with the folder and the id that the options name.
std::string adapted(std::string_view lines, const WriteTranscriptOptions& options);

/// Returns whether a session that holds only a subagent's lines is written as a different session: as a fork or a copy.
bool leavesSubagent(const EntryList& entries, const Agent& agent, const WriteTranscriptOptions& options);

/// Converts the lines of a subagent to lines of a session that people continue.
std::string toMainSessionLines(std::string_view lines, const Agent& agent);

}  // namespace bough::transcript
