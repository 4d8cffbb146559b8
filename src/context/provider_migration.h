// A session as it is migrated to another provider: what is read from its branch, and what becomes of it.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/roundtrip/session_convert.h"

namespace bough::context {

inline constexpr std::string_view kMigrationKind = "provider_migration";

/// The branch of a session, ready to be converted. Neither copies nor moves: its parts point into one another.
struct MigrationSource {
  std::string headId;
  std::vector<Entry> entries;        ///< After the last migration, root first.
  std::optional<Entry> cut;          ///< The first entry of a branch without a migration, when it continues a lost one.
  std::vector<std::size_t> places;   ///< Of each message: its place in `entries`.
  std::vector<std::string> systems;  ///< Of each message: what was in force there.
  std::vector<std::string> tools;
  std::string system;  ///< In force at the end.
  std::string toolList;
  std::vector<message::SessionMessage> messages;
  WayBack wayBack;                    ///< Of the last migration; empty when there was none.
  std::string wayBackProblem;         ///< Why it cannot be read.
  Dialect dialect = Dialect::Bough;   ///< Whom the newest answer is from.
  std::vector<std::string> redacted;  ///< Entries that are left out.
};

Result<void> readSource(SessionStore& store, const std::string& sessionId, const std::string& at,
                        MigrationSource& source);

/// Reads the originals; with strict, fails at the first bad one.
Result<void> readOriginals(SessionStore& store, const std::string& sessionId, const MigrationSource& source,
                           bool strict, message::History& history, message::Reporter& reporter);

}  // namespace bough::context
