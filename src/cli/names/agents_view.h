// The sessions of other agents on this machine, by a catalog that is made from their files alone.
#pragma once

#include <string>
#include <vector>

#include "bough/error.h"
#include "bough/transcript.h"
#include "catalog/outside.h"
#include "cli/definition/command.h"
#include "cli/names/catalog_view.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// The catalog of these agents' sessions ("claude-code,codex", or "all"), brought up to date: only files that are new
/// or have changed are read, and nothing of them is copied. It answers lists and usage; its store holds no session.
/// With `newest` it answers only that list: of the new files, those are read that may be in it.
Result<CatalogView> openAgentsView(const std::string& list, const catalog::NewestRows* newest = nullptr);

/// Whether `openAgentsView` would have to read at least so many bytes first.
Result<bool> hasBacklog(const std::string& list, std::uint64_t bytes);

/// A session of that catalog, read from its file.
Result<NamedSession> openListedSession(const std::string& sessionId);

/// The session of an agent on this machine that `name` means: its id, the beginning or the end of it (8 characters or
/// more), its key, its title or a part of that (4 characters or more), or a number of the last list (@N). NotFound when
/// there is none; InvalidArgument when there are several.
Result<NamedSession> openAgentSession(const Context& context, const std::string& name);

/// The agents' files that a name means, for commands that read them themselves: those of a session that the store does
/// not have and an agent on this machine has; the path itself when the name is one of a transcript. None for a session
/// of the store, and for a name of nothing.
Result<std::vector<std::string>> filesOfName(const Context& context, const std::string& name);

/// Keeps the ids of a list of these sessions, so that @N names them.
Result<void> rememberAgents(const Context& context, const std::vector<std::string>& sessionIds);

}  // namespace bough::cli
