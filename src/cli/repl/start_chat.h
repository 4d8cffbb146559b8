// Starts a chat, as `bough chat` and `bough resume` do: on a terminal as a REPL, else with what is piped to it.
#pragma once

#include <string>

#include "cli/repl/chat_session.h"

namespace bough::cli {

struct ChatRequest {
  agent::ChatOptions options{};
  ChatChoice choice{};
  std::string prompt{};     ///< Said first; may be empty.
  bool promptOnly = false;  ///< -p: print the answer to the prompt and end.
  bool finishOnly = false;  ///< Only finish a turn that was interrupted, or answer what another program appended.
};

Result<ExitCode> startChat(const Context& context, ChatRequest request);

/// Without a terminal: the prompt, with stdin as its context, or without a prompt each line of stdin.
Result<ExitCode> runPipedChat(const Context& context, const ChatRequest& request);

}  // namespace bough::cli
