// Starts a chat, as `bough chat` and `bough resume` do: on a terminal as a REPL, else with what is piped to it.
#pragma once

#include <set>
#include <string>

#include "cli/repl/chat_session.h"

namespace bough::cli {

struct ChatRequest {
  agent::ChatOptions options{};
  ChatChoice choice{};
  std::string prompt{};             ///< Said first; may be empty.
  std::string folder{};             ///< Where the tools work, absolute; startChat sets it.
  std::set<std::string> allowed{};  ///< Permissions that the settings give in that folder.
  bool promptOnly = false;          ///< -p: print the answer to the prompt and end.
  bool finishOnly = false;  ///< Only finish a turn that was interrupted, or answer what another program appended.
};

Result<ExitCode> startChat(const Context& context, ChatRequest request);

/// A text as it was given, or with `@FILE` what that file holds. `name` is for the message.
Result<std::string> textOrFile(const std::string& given, const std::string& name);

/// Without a terminal: the prompt, with stdin as its context, or without a prompt each line of stdin.
Result<ExitCode> runPipedChat(const Context& context, const ChatRequest& request);

}  // namespace bough::cli
