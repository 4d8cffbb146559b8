// Halves of characters: JSON can spell them, UTF-8 and the providers' servers cannot.
#pragma once

#include <string_view>

namespace bough::json {

/// Whether an escaped string body has a surrogate (`\ud800`) without its other half.
bool hasLoneSurrogate(std::string_view body);

}  // namespace bough::json
