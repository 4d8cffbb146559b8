// Resolves the names that people use for sessions of a store.
#pragma once

#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

/// Returns the id of the session that `name` means in this store. Fails with NotFound when no session matches, and with
/// InvalidArgument, listing the candidates, when several do.
Result<std::string> resolveSession(SessionStore& store, const std::string& name);

/// The same for a command that is about to change the session. Accepts an id, a key, a path, or at least 8 characters
/// of an id that bough made. For a less exact name, asks on the terminal and shows the session's title; without a
/// terminal, or with `asking` false (as with --yes and --json), fails with InvalidArgument.
Result<std::string> resolveSessionToChange(SessionStore& store, const std::string& name, bool asking);

/// Returns the session in `matches` that a title or part of a title means. Fails with InvalidArgument when there are
/// several.
Result<SessionSummary> chooseByTitle(const std::string& name, const std::vector<SessionSummary>& matches);

/// Returns true when the store has a session with this id, even a damaged one.
bool isKnown(SessionStore& store, const std::string& sessionId);
/// Returns true when a session that was listed has been removed since.
bool isGone(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
