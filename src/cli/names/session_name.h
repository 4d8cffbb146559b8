// Resolves the names that people use for sessions: in a store, as a file, or of another agent on this machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"
#include "cli/definition/command.h"
#include "cli/names/catalog_view.h"
#include "cli/names/named_session.h"
#include "cli/names/session_file.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/names/store_session.h"

namespace bough::cli {

inline constexpr const char* kSessionHelp =
    "A session: its id or the beginning or end of it, a key, part of its title, @last, @N (of the last list), or a "
    "path";
/// For commands that change the session: only names whose meaning cannot change later.
inline constexpr const char* kExactSessionHelp =
    "A session: its id, at least 8 characters of an id that bough made, its key, or its path";

/// Opens the session that `name` means in the store of the command line. A name may also be the path of a session file:
/// a file in a store is opened as that store's session; any other file can be read but not written. Fails with
/// InvalidArgument for another agent's transcript, which must be imported before it can be changed.
Result<NamedSession> openSession(const Context& context, const std::string& name);
/// The same for a command that changes the session; see resolveSessionToChange.
Result<NamedSession> openSessionToChange(const Context& context, const std::string& name, bool asking = true);

/// Extends the error for a session that no agent has either: adds why there is no store, if that is the case.
Error notFoundAnywhere(const Context& context, const std::string& name, Error error);

/// Opens the store for a command that resolves session names itself. If there is no store and one of the names is a
/// path, the error says what is wrong with that file.
Result<std::unique_ptr<SessionStore>> openStoreWith(const Context& context, const std::vector<std::string>& names);

/// The same for commands that only read: also accepts the path of a transcript, or the id of a session in another
/// agent's folder. This function and openSessionToChange() call reportDamage().
Result<NamedSession> openForReading(const Context& context, const std::string& name);

/// Opens the catalog for one session, which may also be another agent's: its file, or the id of one in the agents'
/// folders.
Result<CatalogView> openCatalogViewOf(const Context& context, const std::string& session, bool search = false,
                                      WhenOutOfDate whenOutOfDate = WhenOutOfDate::Update);

}  // namespace bough::cli
