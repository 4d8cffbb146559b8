// Lone surrogates, which are halves of characters: JSON can express them, but UTF-8 cannot and the providers' servers
// refuse them.
#pragma once

#include <string_view>

namespace bough::json {

/// Returns whether an escaped string body has a surrogate (`\ud800`) without its other half.
bool hasLoneSurrogate(std::string_view body);

}  // namespace bough::json
