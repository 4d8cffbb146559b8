// The names of places in what a session holds.
//
// What was written while an entry could not be read may know it by its place (`unreadable:<offset>`). That is a place
// in one log: elsewhere, as in another store or in a log that was written again, it would be nothing, or another entry.
#pragma once

#include <string>
#include <vector>

#include "store/sharing/sharing_session.h"

namespace bough {

/// Where a session has the entry that another one names, or a caller does for it. A name of a place may be as old as
/// the other session: then it is followed through what the log has said of it since.
Result<std::optional<std::uint64_t>> sequenceNamedFrom(SharingSession& session, std::string_view name);

/// The id of the entry that the session means by the name of a place. Any other id, or a place where nothing begins, is
/// given back as it is.
Result<std::string> idMeantBy(SharingSession& session, std::string id);

/// The id of the entry that a fork with this history continues, when its header knows that by its place.
Result<void> nameOrigin(const ForkHistory& history, Entry& header);

/// Own entries of a session, with ids for the places that they name.
Result<void> namePlaces(SharingSession& session, std::vector<Entry>& entries);

}  // namespace bough
