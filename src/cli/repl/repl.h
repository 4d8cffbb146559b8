// The REPL: a line editor, the running turn, and the commands that begin with a slash.
#pragma once

#include "bough/agent/chat.h"
#include "cli/definition/command.h"

namespace bough::cli {

Result<ExitCode> runRepl(const Context& context, const agent::ChatOptions& options, const std::string& session,
                         bool fresh);

}  // namespace bough::cli
