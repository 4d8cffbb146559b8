// How entries move the head, the entry that the next turn continues from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"

namespace bough {

/// Returns the entry that the payload of a head entry names; empty when the next turn starts a new tree.
std::string headNamedBy(std::string_view payload);
/// Returns the payload of a head entry that names `entryId`.
std::string headPayload(std::string_view entryId);

/// Returns the head after an entry: a head entry names the new head, and an entry of the conversation becomes the head.
/// Returns std::nullopt when the entry does not move the head. The result may point into `storage`.
std::optional<std::string_view> headAfter(EntryKind kind, std::string_view id, std::string_view payload,
                                          std::string& storage);

}  // namespace bough
