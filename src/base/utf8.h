// Whether bytes are UTF-8.
#pragma once

#include <string_view>

namespace bough {

/// As the Unicode standard defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

}  // namespace bough
