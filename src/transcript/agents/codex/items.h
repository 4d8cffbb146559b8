// Response items, for the readers and writers of Codex files.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transcript/model/agent.h"

namespace bough::transcript::codex {

/// The Codex version that written files name.
inline constexpr std::string_view kVersion = "0.166.0";

/// Returns whether a user message is something that Codex itself tells the model (environment, instructions), judging
/// by its text.
bool isInjected(std::string_view text);

/// Returns the text of a message item's content, or of a reasoning summary.
std::string itemText(std::string_view list);

/// Returns a user message with this text.
std::string userItem(std::string_view text);

/// Returns a message of the Responses API in the form that Codex reads: with a type, and with content that is a list.
std::string responseItem(std::string_view message);

/// Entry id → the items that were written for it. A compaction replaces the history with some of these items.
using WrittenItems = std::unordered_map<std::string, std::vector<std::string>>;

/// Returns the payload of a `compacted` line: the summary and what it keeps.
std::string compactedPayload(const Item& item, const WrittenItems& written);

}  // namespace bough::transcript::codex
