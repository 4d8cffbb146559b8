// Whether bytes are UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough {

/// What some programs put before UTF-8; a reader takes it off.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// As the Unicode standard defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

/// How many bytes are before the first that is not UTF-8; all of them when there is none.
std::size_t utf8PrefixBytes(std::string_view text);

}  // namespace bough
