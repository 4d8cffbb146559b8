// Resolves the names that people use for entries of a session.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

inline constexpr const char* kEntryHelp =
    "An entry: its id, the beginning or end of it where that is unique, a label, @head or @root; add ~N for the entry "
    "N steps before";

/// For commands that change something: only names whose meaning cannot change later.
inline constexpr const char* kExactEntryHelp =
    "An entry: its id or at least 8 characters of it, a label, @head or @root; add ~N for the entry N steps before";

/// Returns the id of the entry that `name` means. Fails with NotFound when no entry matches, and with InvalidArgument,
/// listing the candidates, when several do.
Result<std::string> resolveEntry(SessionStore& store, const std::string& sessionId, const std::string& name);
/// The same for commands that change something: the beginning or end of an id must have at least 8 characters, also
/// when steps follow it.
Result<std::string> resolveEntryToChange(SessionStore& store, const std::string& sessionId, const std::string& name);

/// Returns true when an entry was made from a line of Claude Code with this `uuid`. An answer is made from several
/// lines.
bool holdsLine(const Entry& entry, std::string_view lineId);

/// Adds the label that was probably meant to the error for a missing label.
Error withNearestLabel(SessionStore& store, const std::string& sessionId, const std::string& label, Error error);

}  // namespace bough::cli
