// How a person names a session.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "bough/store.h"
#include "cli/definition/command.h"

namespace bough::cli {

inline constexpr const char* kSessionHelp =
    "A session: its id or the beginning or end of it, a key, part of its title, @last, @N (of the last list), or a "
    "path";
/// For commands that change the session: nothing that could come to mean another one.
inline constexpr const char* kExactSessionHelp =
    "A session: its id, at least 8 characters of an id that bough made, its key, or its path";

/// The id of the session that `name` means in this store. NotFound when there is none; InvalidArgument, with the
/// candidates, when there are several.
Result<std::string> resolveSession(SessionStore& store, const std::string& name);

/// The same for a command that is about to change the session: an id, a key, a path, or 8 characters and more of an id
/// that bough made. Anything looser is asked about on a terminal, with the title of the session; with `asking` false
/// (as with --yes and --json), or without a terminal, it is InvalidArgument.
Result<std::string> resolveSessionToChange(SessionStore& store, const std::string& name, bool asking);

/// The session among `matches` that a title, or a part of one, means; InvalidArgument when there are several.
Result<SessionSummary> chooseByTitle(const std::string& name, const std::vector<SessionSummary>& matches);

/// A session that was named, and the store it is in.
struct NamedSession {
  std::shared_ptr<void> passing = {};  ///< What goes with it: the folder of a copy.
  std::shared_ptr<SessionStore> store;
  std::string sessionId;
  std::shared_ptr<void> damage = {};  ///< Of tellOfDamage().
  std::string told = {};              ///< What was said of a transcript's damage.
  bool isCopy = false;                ///< Of an agent's files, in a store of its own.
};

/// The same in the store that the command line means. A name may also be the path of a session file: in a store, then
/// it is that store's session; elsewhere, then it can be read but not written. InvalidArgument for the transcript of
/// another agent, which must be imported before it can be changed.
Result<NamedSession> openSession(const Context& context, const std::string& name);
/// The same for a command that changes the session; see resolveSessionToChange.
Result<NamedSession> openSessionToChange(const Context& context, const std::string& name, bool asking = true);

/// Whether a name may be a path: it has a slash, or the ending of a session file.
bool isSessionPath(const std::string& name);

/// Whether a name is the path of a folder that exists.
bool isFolderName(const std::string& name);

/// Of a session that no agent has: the error says so where there is no store either.
Error notFoundAnywhere(const Context& context, const std::string& name, Error error);

/// Opens the store of sessions that a command resolves by itself. Where there is no store, and one of the names is a
/// path, the error says what is wrong with that file.
Result<std::unique_ptr<SessionStore>> openStoreWith(const Context& context, const std::vector<std::string>& names);

/// Whether bough made an id: a UUID that begins with a time.
bool isMadeId(std::string_view id);
/// What a list shows of an id: the last 8 characters of one that bough made (its first ones are alike), the first 8 of
/// any other UUID, any other id whole.
std::string shortId(std::string_view id);
/// The same for the ids of one list: the other 8 characters, or the whole id, where these would name two of them. An id
/// may be there several times.
std::vector<std::string> shortIds(const std::vector<std::string>& ids);
std::vector<std::string> shortIds(const std::vector<SessionSummary>& rows);
/// The shortest name that commands which change a session take: 8 characters of an id that bough made, any other whole.
std::string exactId(std::string_view id);
/// Colors short ids: the part that tells a session from all others in the store stands out. In a large store, where
/// looking at all ids takes too long, the whole short id does. None where no colors are used.
std::function<std::string(const std::string& shortId)> idPainter(Catalog& catalog);
/// What messages and questions call a session: its exactId and, where it has one, its title.
std::string nameWithTitle(const SessionSummary& row);

/// The same for commands that only read: they also take the path of a transcript, or the id of a session in the folder
/// of another agent. This and openSessionToChange() call tellOfDamage().
Result<NamedSession> openForReading(const Context& context, const std::string& name);

}  // namespace bough::cli
