// The tables and functions of a store in PostgreSQL.
//
// Rules that let the same schema run on engines that speak PostgreSQL's protocol: every key of a session's tables
// begins with the session's id, so that a session is always on one machine; there are no sequences, triggers, advisory
// locks or foreign keys, and no type that changes bytes. Attachments are keyed by their digest.
//
//   sessions  one row a session: its head row. `life` tells sessions apart that had one id after another; a session in
//             the trash is a row with a trash_id. A rewritten session gets another life, so `life` is its generation.
//   entries   one row an entry. `body` is the entry's line after its parentId, byte for byte.
//
// How branches are read without walking every parent: `segment` is the sequence of the first entry of a run in which
// each entry continues the one before it; only the first entry of a run has to be asked for its parent. `depth` counts
// the entries of a branch up to this one, across forks; a root has 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/system/environment.h"
#include "store/postgres/client/pool.h"

namespace bough::postgres {

/// The version that this program reads and writes: of the tables, and of the functions, which an older program would
/// otherwise put back.
inline constexpr int kSchemaVersion = 5;

/// What happened in initSchema.
struct SchemaReport {
  int before = 0;  ///< 0: there was none.
  int now = kSchemaVersion;
};

/// Creates the schema, or brings it up to date, in one transaction. Repeatable. NewerFormat when it is newer than this
/// program.
Result<SchemaReport> initSchema(Pool& pool);

/// Gives a role the rights to read (`reader`), also to append (`writer`), or also to throw away and erase (`keeper`).
Result<void> grantRights(Pool& pool, std::string_view role, std::string_view rights);

/// NotFound when there is no schema, MigrationNeeded when it is older and NewerFormat when it is newer. With a clock
/// InvalidArgument when that and the server's are more than a day apart: times of entries, and what is kept how long,
/// depend on it.
Result<void> checkSchema(Pool& pool, Clock* clock = nullptr);

/// Why the server refuses a statement of a program that found its schema when it opened the store: another program has
/// upgraded it since, or put an older one in its place, or removed it. None when the schema is what it was.
std::optional<Error> whyOtherSchema(Pool& pool);

/// A statement's text with the store's schema in the place of each `@.`.
std::string inSchema(std::string_view sql, std::string_view schema);

}  // namespace bough::postgres
