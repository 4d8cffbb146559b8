// Reads what users and projects tell every model: the files AGENTS.md and CLAUDE.md.
#pragma once

#include <string>
#include <vector>

#include "bough/agent/chat.h"

namespace bough::agent {

/// Reads `userFiles`, then AGENTS.md and CLAUDE.md of every folder from the root down to `folder` (an absolute path),
/// so that the nearest files come last. Skips a file unless it belongs to the user, to root, or to the owner of
/// `folder`: another user could have put it into a shared parent folder. Skips repeated texts.
Instructions readInstructions(const std::string& folder, const std::vector<std::string>& userFiles);

}  // namespace bough::agent
