// Finds where a JSON container ends by its strings and brackets alone, 64 bytes at a time. It is many times faster than
// a check of the grammar, and made for text that a verified seal vouches for: whoever sealed it had checked it. What is
// found is safe to splice into other JSON all the same, since its strings and brackets close inside it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/bytes/crc32c.h"

namespace bough::json {

/// The offset after the object or array that begins with the first byte of `text`. None when there is none, when a
/// string or a bracket in it is not closed or is closed by the wrong kind, when a backslash is outside of strings,
/// or when it is nested deeper than kMaxDepth.
std::optional<std::size_t> skipBrackets(std::string_view text);

/// The same in one pass with two other things: all of `text` is copied to `out` and added to `crc`.
std::optional<std::size_t> copyBrackets(std::string_view text, char* out, Crc32c& crc);
/// The same without the sum.
std::optional<std::size_t> copyBrackets(std::string_view text, char* out);

}  // namespace bough::json
