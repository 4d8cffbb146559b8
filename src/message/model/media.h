// Which images and documents each target takes, and in which form.
#pragma once

#include <bough/message.h>

#include <string_view>

namespace bough::message {

/// Whether a target takes this image or document from a message of this role. `from`: whose file ids they are.
bool canHoldMedia(Dialect target, Role role, const Block& block, Dialect from);

/// The media type to write for it; guessed from the address where none is stored.
std::string_view mediaTypeOf(const Block& block);

/// The name of a file of this type that has none.
std::string_view fileNameOf(std::string_view type);

/// How closely a model of OpenAI is to look at an image: `"low"`, as it is stored. Empty where nobody said.
std::string_view detailOf(const Block& block);

/// Whether a target keeps the name of this image or document. `asMedia`: it is written as one.
bool canHoldTitle(Dialect target, const Block& block, bool asMedia);

/// How a dialect calls the title of a document, or the name of its file.
std::string_view titleName(Dialect dialect);

}  // namespace bough::message
