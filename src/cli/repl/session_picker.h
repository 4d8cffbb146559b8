// Lets the user pick a session of a store, with a preview of each conversation.
#pragma once

#include <optional>
#include <string>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// Returns the session that the user chose, or std::nullopt when the user left. The picker begins at `selected`, which
/// may be empty. On request it forks, labels, deletes and restores sessions.
Result<std::optional<std::string>> pickSession(SessionStore& store, Catalog& catalog, const std::string& selected);

}  // namespace bough::cli
