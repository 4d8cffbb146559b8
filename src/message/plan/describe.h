// Tells in words what a block says that only its own provider understands: a shell call, a web search and its results.
#pragma once

#include <bough/message.h>

#include <optional>
#include <string>

namespace bough::message {

/// "[web_search_call] {"action":…}": the members that a model can read, without ids, encrypted content and bytes in
/// base64. None when nothing is left, or the block is not JSON.
std::optional<std::string> describe(const Block& block);

}  // namespace bough::message
