// How a person names a session of a store.
#pragma once

#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

/// The id of the session that `name` means in this store. NotFound when there is none; InvalidArgument, with the
/// candidates, when there are several.
Result<std::string> resolveSession(SessionStore& store, const std::string& name);

/// The same for a command that is about to change the session: an id, a key, a path, or 8 characters and more of an id
/// that bough made. Anything looser is asked about on a terminal, with the title of the session; with `asking` false
/// (as with --yes and --json), or without a terminal, it is InvalidArgument.
Result<std::string> resolveSessionToChange(SessionStore& store, const std::string& name, bool asking);

/// The session among `matches` that a title, or a part of one, means; InvalidArgument when there are several.
Result<SessionSummary> chooseByTitle(const std::string& name, const std::vector<SessionSummary>& matches);

/// Whether the store has a session of this id, be it damaged.
bool isKnown(SessionStore& store, const std::string& sessionId);
/// Whether a session that was listed has been removed since then.
bool isGone(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
