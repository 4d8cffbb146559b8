// A question to the model outside of the conversation: for a summary, for a title.
#pragma once

#include "bough/agent/loop.h"

namespace bough::agent {

struct OneAnswer {
  std::string text;
  Usage usage{};  ///< Of all requests that it took.
};

/// Sends one message, the instruction and what it is about, and returns the text of the answer. Nothing is stored.
Result<OneAnswer> askOnce(const Agent& agent, std::string_view instruction, std::string_view about);

}  // namespace bough::agent
