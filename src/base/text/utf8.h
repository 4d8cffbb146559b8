// Checks for valid UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough {

/// Some programs write this before UTF-8 text; readers remove it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Follows the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// Returns the length of the longest prefix that is valid UTF-8.
std::size_t utf8PrefixBytes(std::string_view text);

}  // namespace bough
