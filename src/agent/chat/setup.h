// The setup at the end of a branch (model, folder, system prompt), and the text of a system prompt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/chat.h"

namespace bough::agent {

struct ModelName {
  std::string provider{};  ///< Empty when the provider is unknown.
  std::string model{};     ///< Empty when there is no model.

  [[nodiscard]] std::string full() const { return provider.empty() ? model : provider + "/" + model; }
};

struct Setup {
  std::string folder{};  ///< The working folder that the model was told; empty before the first turn of this agent.
  ModelName model{};
  std::string thinkingLevel{};
  std::string systemPrompt{};
};

/// Reads the setup from the entries that record it, not from the messages.
Result<Setup> setupAt(SessionStore& store, const StartingPoint& at);

/// The model of a conversation, or what is known about it.
struct ConversationModel {
  ModelName name{};  ///< Empty when no model was set and none has answered.
  /// The provider of the last answer, when that answer does not name its model and `name` belongs to another provider.
  std::string lastUnnamedProvider{};
  /// Whether the branch has messages. Complete only when `name` is empty: the search stops at the first model it finds.
  bool hasMessages = false;
};

/// Returns the model of `setup`. If the last answer came from another provider and no model was set after it (an
/// imported session, or one that other programs have appended to), returns the model of that answer instead.
Result<ConversationModel> conversationModel(SessionStore& store, const StartingPoint& at, const Setup& setup);

/// Returns true when the system prompt of a chat's next turn differs from the last one, because the folder, the
/// instructions or ChatOptions::systemPrompt changed. False before the first turn.
Result<bool> promptChanges(Chat& chat);
/// The same for a chat that would start in the folder of the last turn with these instruction files
/// (ChatOptions::userInstructions).
Result<bool> promptChanges(SessionStore& store, const StartingPoint& at,
                           const std::vector<std::string>& userInstructions);

/// Composes a system prompt from `base`, the folder in which the tools work, and the instructions.
std::string composePrompt(std::string_view base, std::string_view folder, std::string_view instructions);
/// Returns the `base` of a prompt made by composePrompt.
std::string_view baseOfPrompt(std::string_view prompt);

}  // namespace bough::agent
