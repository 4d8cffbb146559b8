// How a person names a session: one of a store, a file, or one of another agent on this machine.
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
/// For commands that change the session: nothing that could come to mean another one.
inline constexpr const char* kExactSessionHelp =
    "A session: its id, at least 8 characters of an id that bough made, its key, or its path";

/// The session that `name` means in the store that the command line means. A name may also be the path of a session
/// file: in a store, then it is that store's session; elsewhere, then it can be read but not written. InvalidArgument
/// for the transcript of another agent, which must be imported before it can be changed.
Result<NamedSession> openSession(const Context& context, const std::string& name);
/// The same for a command that changes the session; see resolveSessionToChange.
Result<NamedSession> openSessionToChange(const Context& context, const std::string& name, bool asking = true);

/// Of a session that no agent has: the error says so where there is no store either.
Error notFoundAnywhere(const Context& context, const std::string& name, Error error);

/// Opens the store of sessions that a command resolves by itself. Where there is no store, and one of the names is a
/// path, the error says what is wrong with that file.
Result<std::unique_ptr<SessionStore>> openStoreWith(const Context& context, const std::vector<std::string>& names);

/// The same for commands that only read: they also take the path of a transcript, or the id of a session in the folder
/// of another agent. This and openSessionToChange() call tellOfDamage().
Result<NamedSession> openForReading(const Context& context, const std::string& name);

/// The catalog for one session, which may also be another agent's: its file, or the id of one in the agents' folders.
Result<CatalogView> openCatalogViewOf(const Context& context, const std::string& session, bool search = false,
                                      WhenBehind whenBehind = WhenBehind::TakeIn);

}  // namespace bough::cli
