// How a person names an entry of a session.
#pragma once

#include <string>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

inline constexpr const char* kEntryHelp = "An entry: its id, or @head";

/// The id of the entry that `name` means.
Result<std::string> resolveEntry(SessionStore& store, const std::string& sessionId, const std::string& name);

}  // namespace bough::cli
