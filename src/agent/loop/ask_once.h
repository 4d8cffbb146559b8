// A question to the model outside of the conversation: for a summary, for a title.
#pragma once

#include "bough/agent/loop.h"

namespace bough::agent {

/// Sends one message, the instruction and what it is about, and returns the text of the answer. Nothing is stored.
/// Fails when the answer was refused, broke off, or did not fit into what the model writes at most. `paid` grows by
/// what each request cost, also when this fails.
Result<std::string> askOnce(const Agent& agent, std::string_view instruction, std::string_view about, Usage& paid);

}  // namespace bough::agent
