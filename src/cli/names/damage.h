// What a command says before it shows or uses sessions of which a part cannot be read.
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
/// of the damage before the lines are read, so what is returned looks again when it ends; the store must live until
/// then. With --strict every byte is checked, and damage is Damaged.
Result<std::shared_ptr<void>> tellOfDamage(const Context& context, SessionStore& store, const std::string& sessionId);
/// Says on stderr that an import could not read all of the session. Its log is sound.
void tellOfImport(SessionStore& store, const std::string& sessionId);
/// The same as the first for a command that sums up the sessions of a filter.
Result<void> tellOfDamage(const Context& context, Catalog& catalog, SessionFilter filter);

struct LostHistory {
  std::string what;    ///< What it continues: after "it continues".
  std::string advice;  ///< The next step, first the one that loses nothing.
};

/// What a fork has lost with the session that it continues, and how to get it back; none when all that it shares is
/// there.
std::optional<LostHistory> lostHistoryOf(SessionStore& store, const SessionState& state);

}  // namespace bough::cli
