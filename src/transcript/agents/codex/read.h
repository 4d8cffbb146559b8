// The two halves of the row for Codex in the table of agents.
#pragma once

#include <memory>
#include <string_view>

#include "transcript/model/agent.h"

namespace bough::transcript::codex {

/// `depth`: how many forks were followed to come here.
std::unique_ptr<Reader> makeReader(unsigned depth = 0);
std::unique_ptr<Writer> makeWriter();

/// Whether a user message is what Codex itself tells the model (environment, instructions), by its text.
bool isInjected(std::string_view text);

/// The text of a message item's content, or of a reasoning summary.
std::string itemText(std::string_view list);

}  // namespace bough::transcript::codex
