// Response items, as the readers and writers of Codex files see them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transcript/model/agent.h"

namespace bough::transcript::codex {

/// The version whose files are written.
inline constexpr std::string_view kVersion = "0.166.0";

/// Whether a user message is what Codex itself tells the model (environment, instructions), by its text.
bool isInjected(std::string_view text);

/// The text of a message item's content, or of a reasoning summary.
std::string itemText(std::string_view list);

/// A user's message with this text.
std::string userItem(std::string_view text);

/// A message of the Responses API as Codex reads it: with its type, and content that is a list.
std::string responseItem(std::string_view message);

/// What was written for each entry: the items that a compaction replaces the history with are among them.
using WrittenItems = std::unordered_map<std::string, std::vector<std::string>>;

/// The payload of a `compacted` line: the summary and what it keeps.
std::string compactedPayload(const Item& item, const WrittenItems& written);

}  // namespace bough::transcript::codex
