// Other agents' sessions on this machine, in a catalog that is built only from their files.
#pragma once

#include <string>
#include <vector>

#include "bough/error.h"
#include "bough/transcript.h"
#include "catalog/external.h"
#include "cli/definition/command.h"
#include "cli/names/catalog_view.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// Returns an up-to-date catalog of these agents' sessions ("claude-code,codex", or "all"). Reads only new or changed
/// files and copies nothing from them. The catalog answers lists and usage; its store holds no sessions. With `newest`,
/// it answers only that list, and reads only those new files that may belong to it.
Result<CatalogView> openAgentsView(const std::string& list, const catalog::NewestRows* newest = nullptr);

/// Returns true if `openAgentsView` would have to read at least `bytes` bytes first.
Result<bool> hasBacklog(const std::string& list, std::uint64_t bytes);

/// Opens a session of that catalog by reading its file.
Result<NamedSession> openListedSession(const std::string& sessionId);

/// Opens an agent's session on this machine. `name` is its id, the beginning or end of the id (8 characters or more),
/// its key, its title or part of the title (4 characters or more), or a number of the last list (@N). Fails with
/// NotFound when no session matches, and with InvalidArgument when several do.
Result<NamedSession> openAgentSession(const Context& context, const std::string& name);

/// Returns the agent's files that a name means, for commands that read them directly: the files of a session that an
/// agent on this machine has and the store has not, or the path itself when the name is the path of a transcript. Empty
/// for a session of the store, and for an unknown name.
Result<std::vector<std::string>> filesOfName(const Context& context, const std::string& name);

/// Stores the ids of a list of such sessions, so that @N refers to them.
Result<void> rememberAgents(const Context& context, const std::vector<std::string>& sessionIds);

}  // namespace bough::cli
