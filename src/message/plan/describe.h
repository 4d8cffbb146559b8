// Describes in words a block that only its own provider understands: a shell call, a web search and its results.
#pragma once

#include <bough/message.h>

#include <optional>
#include <string>

namespace bough::message {

/// Returns "[web_search_call] {"action":…}": the members that a model can read, without ids, encrypted content and
/// base64 data. std::nullopt when nothing is left, or when the block is not JSON.
std::optional<std::string> describe(const Block& block);

}  // namespace bough::message
