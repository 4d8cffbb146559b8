// Names of places that entries of a session contain.
//
// An entry that was written while another entry was unreadable may name that entry by its place in the log
// (`unreadable:<offset>`). Such a name is valid in one log only. In another store, or in a rewritten log, it would name
// nothing or a different entry.
#pragma once

#include <string>
#include <vector>

#include "store/sharing/sharing_session.h"

namespace bough {

/// Returns the sequence of an entry of `session` that another session, or a caller on its behalf, names. A name of a
/// place may be older than the log: it is then translated with the renamings that the log has recorded since.
Result<std::optional<std::uint64_t>> sequenceNamedFrom(SharingSession& session, std::string_view name);

/// Returns the id of the entry that the session means by the name of a place. Returns any other id, and a place where
/// no entry begins, unchanged.
Result<std::string> resolvedId(SharingSession& session, std::string id);

/// When a fork's header names the entry that it continues by a place, replaces the place by the entry's id.
Result<void> resolveOrigin(const ForkHistory& history, Entry& header);

/// Replaces the places that own entries of a session name by the ids of the entries there.
Result<void> resolvePlaces(SharingSession& session, std::vector<Entry>& entries);

}  // namespace bough
