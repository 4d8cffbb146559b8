// One function an agent: the row of the table that describes it. Each is in the file of that name.
#pragma once

#include "transcript/model/agent.h"

namespace bough::transcript {

Agent claudeCode();
Agent claw0();
Agent codexRollout();  // "codex" is the name of a namespace
Agent geminiCli();
Agent geminiCliDocument();
Agent myagents();
Agent myagentsLegacy();
Agent openclaw();
Agent pi();
Agent plain();

}  // namespace bough::transcript
