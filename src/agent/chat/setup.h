// What is in force at the end of a branch (model, folder, system prompt), and the text of a system prompt.
#pragma once

#include <string>
#include <string_view>

#include "bough/agent/loop.h"

namespace bough::agent {

struct Setup {
  std::string folder;  ///< That the model was told it works in; empty before the first turn of this agent.
  std::string model;
  std::string thinkingLevel;
  std::string systemPrompt;
};

/// Reads the entries that set these things up, not the messages.
Result<Setup> setupAt(SessionStore& store, const StartingPoint& at);

/// A system prompt: `base`, the folder in which the tools work, and instructions.
std::string composePrompt(std::string_view base, std::string_view folder, std::string_view instructions);
/// The `base` of a prompt that composePrompt has made.
std::string_view baseOfPrompt(std::string_view prompt);

}  // namespace bough::agent
