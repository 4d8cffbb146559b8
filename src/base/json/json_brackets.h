// Finds the end of a JSON container by looking only at strings and brackets, 64 bytes at a time. This is many times
// faster than checking the grammar. It is meant for text under a verified seal, since that text was checked before it
// was sealed. The result can be spliced into other JSON even without that check: its strings and brackets are closed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/bytes/crc32c.h"

namespace bough::json {

/// Returns the offset after the object or array that begins with the first byte of `text`. Returns std::nullopt when
/// `text` begins with something else, when a string or bracket is not closed or is closed by the wrong bracket, when a
/// backslash is outside of a string, or when the nesting is deeper than kMaxDepth.
std::optional<std::size_t> skipBrackets(std::string_view text);

/// As skipBrackets; in the same pass, copies all of `text` to `out` and adds it to `crc`.
std::optional<std::size_t> copyBrackets(std::string_view text, char* out, Crc32c& crc);
/// As above, without the checksum.
std::optional<std::size_t> copyBrackets(std::string_view text, char* out);

}  // namespace bough::json
