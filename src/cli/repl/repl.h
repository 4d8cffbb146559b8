// The REPL: a line editor, the running turn, and the commands that begin with a slash.
#pragma once

#include "bough/agent/chat.h"
#include "cli/definition/command.h"
#include "cli/repl/start_chat.h"

namespace bough::cli {

Result<ExitCode> runRepl(const Context& context, const ChatRequest& request);

}  // namespace bough::cli
