// An agent's own lines for a project that moved, and for a session that has another id.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

namespace bough::transcript {

/// Whether the options ask for that.
bool isAdapted(const WriteTranscriptOptions& options);

/// The lines with the folder and the id that the options name.
std::string adapted(std::string_view lines, const WriteTranscriptOptions& options);

}  // namespace bough::transcript
