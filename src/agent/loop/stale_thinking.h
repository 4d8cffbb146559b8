// Thinking whose prefix has changed.
//
// Anthropic binds the signature of a thinking block to everything before it: system prompt, tools, earlier messages.
// After a compaction, a redaction or another system prompt the block is still stored, but its newer models refuse a
// request that holds it. Such blocks are left out of what is sent.
#pragma once

#include <string>

#include "bough/context.h"

namespace bough::agent {

/// The request of a context, without thinking blocks whose signatures the report calls invalid. Every other byte stays.
std::string requestWithoutStaleThinking(const Context& context);

}  // namespace bough::agent
