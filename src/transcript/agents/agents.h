// One function per agent, which returns the agent's row of the table. Each is in the file of that name.
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
