// Which images and documents each target takes, and in which form.
#pragma once

#include <bough/message.h>

#include <string_view>

namespace bough::message {

/// Whether a target takes this image or document from a message of this role. `from`: whose file ids they are.
bool canHoldMedia(Dialect target, Role role, const Block& block, Dialect from);

/// The media type to write for it; guessed from the address where none is stored.
std::string_view mediaTypeOf(const Block& block);

}  // namespace bough::message
