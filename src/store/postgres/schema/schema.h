// The tables and functions of a store in PostgreSQL.
//
// Rules that let the same schema run on engines that speak PostgreSQL's protocol: every key of a session's tables
// begins with the session's id, so that a session is always on one machine; there are no sequences, triggers, advisory
// locks or foreign keys, and no type that changes bytes. Attachments are keyed by their digest.
//
//   sessions  one row per session: its head row. `life` distinguishes successive sessions with the same id. A session
//             in the trash is a row with a trash_id. A rewritten session gets a new life, so `life` is its generation.
//   entries   one row per entry. `body` is the entry's line after its parentId, byte for byte.
//
// How branches are read without walking every parent: `segment` is the sequence of the first entry of a run, in which
// each entry continues the one before it; so only the parent of a run's first entry has to be looked up. `depth` counts
// the entries of a branch up to this one, across forks; a root has depth 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/system/environment.h"
#include "store/postgres/client/pool.h"

namespace bough::postgres {

/// The version of the schema that this program reads and writes. It covers the tables and the functions: an older
/// program would otherwise restore its own functions.
inline constexpr int kSchemaVersion = 5;

/// The result of initSchema.
struct SchemaReport {
  int before = 0;  ///< 0: there was no schema.
  int now = kSchemaVersion;
};

/// Creates the schema, or brings it up to date, in one transaction. Can be repeated. NewerFormat when the schema is
/// newer than this program.
Result<SchemaReport> initSchema(Pool& pool);

/// Gives a role the rights to read (`reader`), to append as well (`writer`), or to move to the trash and erase as well
/// (`keeper`).
Result<void> grantRights(Pool& pool, std::string_view role, std::string_view rights);

/// Returns NotFound when there is no schema, MigrationNeeded when it is older and NewerFormat when it is newer than
/// this program. With a clock, returns InvalidArgument when that clock and the server's differ by more than a day:
/// timestamps of entries and retention depend on it.
Result<void> checkSchema(Pool& pool, Clock* clock = nullptr);

/// Explains why the server refuses a statement although the schema was right when the store was opened: another program
/// has upgraded it since, replaced it by an older one, or removed it. std::nullopt when the schema is unchanged.
std::optional<Error> schemaMismatchError(Pool& pool);

/// Returns a statement's text with each `@.` replaced by the store's schema.
std::string inSchema(std::string_view sql, std::string_view schema);

}  // namespace bough::postgres
