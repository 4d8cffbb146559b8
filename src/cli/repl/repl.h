// The REPL: a line editor, the running turn, and the commands that begin with a slash.
#pragma once

#include "bough/agent/chat.h"
#include "cli/definition/command.h"
#include "cli/repl/chat_session.h"

namespace bough::cli {

/// `prompt` is said first; it may be empty.
Result<ExitCode> runRepl(const Context& context, const agent::ChatOptions& options, const ChatChoice& choice,
                         const std::string& prompt);

}  // namespace bough::cli
