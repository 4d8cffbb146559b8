// Asks the model a question outside the conversation: for a summary, or for a title.
#pragma once

#include "bough/agent/loop.h"

namespace bough::agent {

/// Sends one message, made of the instruction and its subject, and returns the text of the answer. Stores nothing.
/// Fails when the answer was refused, broke off, or exceeded the model's output limit. Adds the usage of each request
/// to `paid`, also on failure.
Result<std::string> askOnce(const Agent& agent, std::string_view instruction, std::string_view subject, Usage& paid);

}  // namespace bough::agent
