// Writes all branches of a session for Codex: a file for the branch of the head, and one for each other branch, which
// holds only its own lines and continues the file that it leaves (its history_base says where).
#pragma once

#include <bough/transcript.h>

#include <string>
#include <vector>

#include "transcript/model/agent.h"

namespace bough::transcript::codex {

/// `branches`: that of the head comes first, with all that it holds.
std::vector<TranscriptFile> writeTree(const TranscriptFacts& facts, const std::vector<OwnPart>& branches,
                                      TreeCargo& cargo);

}  // namespace bough::transcript::codex
