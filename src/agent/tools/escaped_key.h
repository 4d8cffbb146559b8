// Finds keys in JSON text, where any character may be escaped.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough::agent {

/// Returns how many bytes the key takes at the beginning of `text`. Any of its characters may be escaped, also more
/// than once: `sk-a`, `sk\u002da`, `\\u0073k-a`. Returns 0 when `text` does not begin with the key.
std::size_t escapedKeyBytes(std::string_view text, std::string_view key);

/// Returns how many bytes to advance at a place where no key begins: an escape counts as one character.
std::size_t characterOrEscapeBytes(std::string_view text);

}  // namespace bough::agent
