// Thinking blocks whose signatures are no longer valid.
//
// Anthropic binds the signature of a thinking block to everything before it: system prompt, tools, earlier messages.
// After a compaction, a redaction or a change of the system prompt, the block is still stored, but newer models refuse
// a request that contains it. Such blocks are left out of requests.
#pragma once

#include <string>

#include "bough/context.h"

namespace bough::agent {

/// Returns the context's request without thinking blocks whose signatures the report calls invalid. All other bytes
/// stay.
std::string requestWithoutStaleThinking(const Context& context);

}  // namespace bough::agent
