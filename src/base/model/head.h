// How entries move the head, which the next turn continues from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"

namespace bough {

/// The entry that the payload of a head entry names; empty when the next turn begins a new tree.
std::string headNamedBy(std::string_view payload);
/// The payload of a head entry that names `entryId`.
std::string headPayload(std::string_view entryId);

/// Where an entry leaves the head: a head entry names it, an entry of the conversation becomes it. None when the entry
/// does not move it. `storage` may have to hold it.
std::optional<std::string_view> headAfter(EntryKind kind, std::string_view id, std::string_view payload,
                                          std::string& storage);

}  // namespace bough
