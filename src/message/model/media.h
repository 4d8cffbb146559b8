// Defines which images and documents each target accepts, and in which form.
#pragma once

#include <bough/message.h>

#include <string_view>

namespace bough::message {

/// Returns whether a target accepts this image or document in a message of this role. `from` is the dialect that file
/// ids belong to.
bool canHoldMedia(Dialect target, Role role, const Block& block, Dialect from);

/// Returns the media type to write; guesses it from the address when none is stored.
std::string_view mediaTypeOf(const Block& block);

/// Returns a name for a file of this type that has no name.
std::string_view fileNameOf(std::string_view type);

/// Returns how closely a model of OpenAI should look at an image, as stored: `"low"`. Empty when not specified.
std::string_view detailOf(const Block& block);

/// Returns whether a target keeps the name of this image or document. `asMedia`: the block is written as media.
bool canHoldTitle(Dialect target, const Block& block, bool asMedia);

/// Returns the dialect's member name for the title of a document, or for the name of its file.
std::string_view titleName(Dialect dialect);

}  // namespace bough::message
