// What a user and a project tell every model: the files AGENTS.md and CLAUDE.md.
#pragma once

#include <string>
#include <vector>

#include "bough/agent/chat.h"

namespace bough::agent {

/// Reads `userFiles`, then AGENTS.md and CLAUDE.md of every folder from the root down to `folder`, which is absolute:
/// what is nearest comes last. A file that belongs neither to the user, nor to root, nor to the owner of `folder` is
/// left out: somebody else could have put it into a shared parent. Equal texts are taken once.
Instructions readInstructions(const std::string& folder, const std::vector<std::string>& userFiles);

}  // namespace bough::agent
