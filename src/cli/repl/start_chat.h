// Starts a chat for `bough chat` and `bough resume`: a REPL on a terminal, otherwise a chat with piped input.
#pragma once

#include <set>
#include <string>

#include "cli/repl/chat_session.h"

namespace bough::cli {

struct ChatRequest {
  agent::ChatOptions options{};
  ChatChoice choice{};
  std::string prompt{};             ///< The first message; may be empty.
  std::string folder{};             ///< The absolute path where the tools work; startChat sets it.
  std::set<std::string> allowed{};  ///< Permissions that the settings give in that folder.
  bool promptOnly = false;          ///< -p: print the answer to the prompt and end.
  bool finishOnly = false;          ///< Only finish an interrupted turn, or answer a message of another program.
};

Result<ExitCode> startChat(const Context& context, ChatRequest request);

/// Returns a text as it was given, or for `@FILE` the content of that file. `name` is for error messages.
Result<std::string> textOrFile(const std::string& given, const std::string& name);

/// Runs a chat without a terminal: one prompt, with stdin as its context, or each line of stdin as a prompt.
Result<ExitCode> runPipedChat(const Context& context, const ChatRequest& request);

}  // namespace bough::cli
