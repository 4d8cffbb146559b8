// Estimates tokens without a tokenizer, from the kinds of characters, in one pass over the stored bytes.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <string_view>

namespace bough::context {

/// Estimates a text. `escaped` says that it is the inside of a JSON string; an escape counts as the character it
/// represents.
std::uint64_t estimateText(std::string_view text, bool escaped);

/// Estimates a JSON value as a model sees it.
std::uint64_t estimateJson(std::string_view json);

/// Estimates a message, including its role and the overhead of its blocks.
std::uint64_t estimateMessage(const Message& message);

}  // namespace bough::context
