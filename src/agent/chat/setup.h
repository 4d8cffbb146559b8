// What is in force at the end of a branch (model, folder, system prompt), and the text of a system prompt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/chat.h"

namespace bough::agent {

struct ModelName {
  std::string provider{};  ///< Empty: nothing says whose the model is.
  std::string model{};     ///< Empty: there is none.

  [[nodiscard]] std::string full() const { return provider.empty() ? model : provider + "/" + model; }
};

struct Setup {
  std::string folder{};  ///< That the model was told it works in; empty before the first turn of this agent.
  ModelName model{};
  std::string thinkingLevel{};
  std::string systemPrompt{};
};

/// Reads the entries that set these things up, not the messages.
Result<Setup> setupAt(SessionStore& store, const StartingPoint& at);

/// Whose conversation it is.
struct ConversationModel {
  ModelName name{};  ///< None when no model was set or has answered.
  /// The provider of the last answer, where that does not name its model and `name` is not of this provider.
  std::string unnamedOf{};
  /// Whether anything was said; without a `name`, of all that was.
  bool hasMessages = false;
};

/// The model of `setup`, unless the last answer is of another provider and nothing was set after it (an imported
/// session, or one that others have appended to).
Result<ConversationModel> conversationModel(SessionStore& store, const StartingPoint& at, const Setup& setup);

/// Whether the next turn of a chat has another system prompt than the last one: the folder, the instructions or
/// ChatOptions::systemPrompt differ. False before the first turn.
Result<bool> promptChanges(Chat& chat);
/// The same for a chat that would be begun in the folder of the last turn, with these files of instructions
/// (ChatOptions::userInstructions).
Result<bool> promptChanges(SessionStore& store, const StartingPoint& at,
                           const std::vector<std::string>& userInstructions);

/// A system prompt: `base`, the folder in which the tools work, and instructions.
std::string composePrompt(std::string_view base, std::string_view folder, std::string_view instructions);
/// The `base` of a prompt that composePrompt has made.
std::string_view baseOfPrompt(std::string_view prompt);

}  // namespace bough::agent
