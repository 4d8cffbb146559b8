// The two halves of the rows for Gemini CLI in the table of agents.
#pragma once

#include <memory>

#include "transcript/model/agent.h"

namespace bough::transcript::gemini_cli {

std::unique_ptr<Reader> makeReader();
std::unique_ptr<Writer> makeWriter();

}  // namespace bough::transcript::gemini_cli
