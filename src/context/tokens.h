// Counts tokens without a tokenizer: by the kinds of characters, in one pass over the stored bytes.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <string_view>

namespace bough::context {

/// Of a text. `escaped`: it is the inside of a JSON string, and an escape counts as what it stands for.
std::uint64_t estimateText(std::string_view text, bool escaped);

/// Of a JSON value as a model sees it.
std::uint64_t estimateJson(std::string_view json);

/// Of a message, with what its role and blocks cost.
std::uint64_t estimateMessage(const Message& message);

}  // namespace bough::context
