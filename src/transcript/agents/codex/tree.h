// Writes all branches of a session for Codex: one file for the branch of the head, and one for each other branch, which
// contains only its own lines and continues the file that it branches off from (its history_base says where).
#pragma once

#include <bough/transcript.h>

#include "transcript/model/agent.h"

namespace bough::transcript::codex {

Result<void> writeTree(const TranscriptFacts& facts, const TreeItems& items, TreeCarrierWriter& carrierWriter,
                       const TranscriptFiles& files);

}  // namespace bough::transcript::codex
