// Keys as JSON may write them.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough::agent {

/// How many bytes a key takes at the beginning of `text`, when any of its characters may be escaped, also more than
/// once: `sk-a`, `sk\u002da`, `\\u0073k-a`. 0 when it is not there.
std::size_t escapedKeyBytes(std::string_view text, std::string_view key);

/// How many bytes to go on by, at a place where no key is: an escape is one character.
std::size_t characterOrEscapeBytes(std::string_view text);

}  // namespace bough::agent
