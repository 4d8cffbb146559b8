// Picks a session: all of a store, with a preview of each conversation.
#pragma once

#include <optional>
#include <string>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// The session that was chosen; none when the user went away. `selected` is where the picker begins; may be empty.
/// Forks, labels, deletes and restores sessions when the user asks for it.
Result<std::optional<std::string>> pickSession(SessionStore& store, Catalog& catalog, const std::string& selected);

}  // namespace bough::cli
