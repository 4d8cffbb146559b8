// The sessions of other agents on this machine, by a catalog that is made from their files alone.
#pragma once

#include <string>
#include <vector>

#include "bough/error.h"
#include "bough/transcript.h"
#include "cli/definition/command.h"
#include "cli/names/catalog_view.h"
#include "cli/names/session_name.h"

namespace bough::cli {

/// The catalog of these agents' sessions ("claude-code,codex", or "all"), brought up to date: only files that are new
/// or have changed are read, and nothing of them is copied. It answers lists and usage; its store holds no session.
Result<CatalogView> openAgentsView(const std::string& list);

/// The files that `openAgentsView` would have to read first, and how many bytes they have.
struct AgentsBacklog {
  std::vector<FoundTranscript> files;  ///< All files of the agents, read or not.
  std::uint64_t unreadBytes = 0;
};
Result<AgentsBacklog> agentsBacklog(const std::string& list);

/// A session of that catalog, read from its file.
Result<NamedSession> openListedSession(const std::string& sessionId);

/// The session of an agent on this machine that `name` means: its id, or the beginning of it (8 characters or more).
/// NotFound when there is none.
Result<NamedSession> openAgentSession(const std::string& name);

}  // namespace bough::cli
