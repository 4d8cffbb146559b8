// What the reader and the writer of MyAgents' files share.
#pragma once

#include <memory>
#include <string>

#include "transcript/model/agent.h"

namespace bough::transcript {

/// Returns the blocks inside a string; empty when there are none.
std::string blocksIn(const std::string& content);

std::unique_ptr<Writer> makeMyAgentsWriter();

}  // namespace bough::transcript
