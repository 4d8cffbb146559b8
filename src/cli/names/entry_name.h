// How a person names an entry of a session.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

inline constexpr const char* kEntryHelp =
    "An entry: its id, the beginning or end of it where that is unique, a label, @head or @root; add ~N for the entry "
    "N steps before";

/// For commands that change something: nothing that could come to mean another one.
inline constexpr const char* kExactEntryHelp =
    "An entry: its id or at least 8 characters of it, a label, @head or @root; add ~N for the entry N steps before";

/// The id of the entry that `name` means. NotFound when there is none; InvalidArgument, with the candidates, when there
/// are several.
Result<std::string> resolveEntry(SessionStore& store, const std::string& sessionId, const std::string& name);
/// The same for commands that change something: the beginning or end of an id must have at least 8 characters,
/// also where steps follow it.
Result<std::string> resolveEntryToChange(SessionStore& store, const std::string& sessionId, const std::string& name);

/// Whether an entry was made from a line of Claude Code with this `uuid`; an answer is made from several lines.
bool holdsLine(const Entry& entry, std::string_view lineId);

/// The error of a label that is not there, with the label that was probably meant.
Error withNearestLabel(SessionStore& store, const std::string& sessionId, const std::string& label, Error error);

}  // namespace bough::cli
