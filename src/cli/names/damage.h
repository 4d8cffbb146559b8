// Warns about unreadable parts of sessions before a command shows or uses them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bough/catalog.h"
#include "bough/error.h"
#include "bough/store.h"
#include "cli/definition/command.h"

namespace bough::cli {

/// Says on stderr that a part of the session, or of the history that it shares, cannot be read. An index may not know
/// about damage until the lines are read, so the returned object checks again when it is destroyed; the store must
/// outlive it. With --strict, checks every byte and fails with Damaged.
Result<std::shared_ptr<void>> reportDamage(const Context& context, SessionStore& store, const std::string& sessionId);
/// Says on stderr that an import could not read the whole source. The session's log itself is sound.
void reportImportDamage(SessionStore& store, const std::string& sessionId);
/// Like reportDamage, for a command that sums up the sessions of a filter.
Result<void> reportDamagedSessions(const Context& context, Catalog& catalog, SessionFilter filter);

struct LostHistory {
  std::string what;    ///< What the session continues; follows "it continues".
  std::string advice;  ///< The next step; the one that loses nothing comes first.
};

/// Returns what a fork lost with the session that it continues, and how to recover it. std::nullopt when the fork's
/// shared history is complete.
std::optional<LostHistory> lostHistoryOf(SessionStore& store, const SessionState& state);

}  // namespace bough::cli
