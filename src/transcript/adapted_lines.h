// An agent's own lines for a project that moved, and for a session that has another id.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

#include "transcript/model/agent.h"

namespace bough::transcript {

/// Whether the options ask for that.
bool isAdapted(const WriteTranscriptOptions& options);

/// The lines with the folder and the id that the options name.
std::string adapted(std::string_view lines, const WriteTranscriptOptions& options);

/// Whether a session that holds a subagent's lines alone is another one now: a fork of it, or a copy.
bool leavesSubagent(const EntryList& entries, const Agent& agent, const WriteTranscriptOptions& options);

/// The lines of a subagent as lines of a session that people continue.
std::string ofMainSession(std::string_view lines, const Agent& agent);

}  // namespace bough::transcript
