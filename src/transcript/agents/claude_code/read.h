// The two halves of the row for Claude Code in the table of agents.
#pragma once

#include <memory>

#include "transcript/model/agent.h"

namespace bough::transcript::claude_code {

std::unique_ptr<Reader> makeReader();
std::unique_ptr<Writer> makeWriter();

}  // namespace bough::transcript::claude_code
