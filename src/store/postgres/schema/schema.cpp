#include "store/postgres/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text/timestamp.h"
#include "base/try.h"
#include "store/postgres/schema/catalog_functions.h"
#include "store/postgres/schema/schema_functions.h"
#include "store/postgres/schema/schema_tables.h"

namespace bough::postgres {
namespace {

static_assert(kSchemaSteps.size() == kSchemaVersion);

constexpr const char* kInitHint = "run `bough store init` with a role that may create the schema";

constexpr std::string_view kLockVersion = "SELECT 1 FROM @.settings WHERE name = 'schema_version' FOR UPDATE";

// Fails, and the transaction with it, when another program has changed the version before we got the lock.
constexpr std::string_view kSameVersion =
    "SELECT 1 / count(*) FROM @.settings WHERE name = 'schema_version' AND value = '{}'";

struct Stored {
  int version = 0;          // 0: there is no schema
  std::uint64_t nowMs = 0;  // by the server's clock
};

Result<Stored> readStored(Pool& pool) {
  Call call{.name = "", .sql = "", .parameters = {}};
  const std::string sql = inSchema(
      "SELECT value, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM @.settings WHERE name = "
      "'schema_version'",
      pool.location().schema);
  call.sql = sql;
  auto found = pool.exchange(std::span<const Call>(&call, 1));
  if (!found) {
    const std::string& state = found.error().sqlState;
    if (state == "42P01" || state == "3F000") return Stored{};
    if (state == "42703" || state == "22P02") {  // no such column, or one of another type
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("{}: the table settings of the schema {} is another application's", pool.location().shown,
                              pool.location().schema),
                  "name another schema with ?schema=NAME in the URL");
    }
    return std::unexpected(std::move(found.error().error));
  }
  const Rows& rows = found->front();
  if (rows.empty()) return Stored{};
  const std::string_view value = rows.text(0, 0);
  Stored stored{.nowMs = static_cast<std::uint64_t>(rows.number(0, 1))};
  const auto read = std::from_chars(value.data(), value.data() + value.size(), stored.version);
  if (read.ec == std::errc() && read.ptr == value.data() + value.size() && stored.version > 0) return stored;
  return fail(ErrorCode::Damaged, fmt::format("{}: the version of the schema is not a number", pool.location().shown),
              "restore the row schema_version of the table settings from a backup");
}

Result<int> storedVersion(Pool& pool) {
  BOUGH_TRY(const Stored stored, readStored(pool));
  return stored.version;
}

Result<void> checkClock(const Pool& pool, std::uint64_t mineMs, std::uint64_t serversMs) {
  constexpr std::uint64_t kMostApartMs = 86'400'000;
  if (std::max(mineMs, serversMs) - std::min(mineMs, serversMs) <= kMostApartMs) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("the clock of this machine says {}, that of {} says {}", formatTimestamp(mineMs),
                          pool.location().shown, formatTimestamp(serversMs)),
              "set the clock that is wrong, then try again: times of entries and retention depend on it");
}

// Splits a text into statements, because a prepared statement cannot contain several. In our texts, `;` at the end of a
// line always ends a statement; each function is a separate text.
std::vector<std::string> statementsOf(std::string_view text) {
  std::vector<std::string> statements;
  while (true) {
    const std::size_t end = text.find(";\n");
    if (end == std::string_view::npos) break;
    statements.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 2);
  }
  return statements;
}

// Returns true when the schema exists but our tables do not: its owner may fill it, but often may not create a schema.
Result<bool> hasSchema(Pool& pool) {
  const std::string sql = fmt::format("SELECT 1 FROM pg_namespace WHERE nspname = '{}'", pool.location().schema);
  BOUGH_TRY(const Rows rows, pool.run({.sql = sql}));
  return !rows.empty();
}

Error initError(Error error, int version) {
  if (error.code != ErrorCode::ReadOnly) return error;
  error.hint = version > 0 ? "run it with the role that created the store"
                           : "run it with a role that may create the schema: its owner, a superuser, or one that has "
                             "GRANT CREATE ON DATABASE … TO ROLE";
  return error;
}

// SQL_ASCII keeps bytes as they are. Every encoding other than UTF8 refuses some letters, and so titles and words.
Result<void> checkEncoding(Pool& pool) {
  BOUGH_TRY(const Rows rows, pool.run({.sql = "SELECT current_setting('server_encoding')"}));
  const std::string encoding = rows.string(0, 0);
  if (encoding == "UTF8" || encoding == "SQL_ASCII") return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{}: the database has the encoding {}, which cannot hold every text", pool.location().shown,
                          encoding),
              "create a database with `createdb -E UTF8 -T template0`");
}

Error newerSchema(const Pool& pool, int version) {
  return fail(ErrorCode::NewerFormat,
              fmt::format("{}: the store has schema version {}, this program knows {}", pool.location().shown, version,
                          kSchemaVersion),
              "upgrade bough")
      .error();
}

std::string quotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string inSchema(std::string_view sql, std::string_view schema) {
  std::string text;
  text.reserve(sql.size() + 64);
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] == '@' && at + 1 < sql.size() && sql[at + 1] == '.') {
      text += quotedName(schema);
    } else {
      text += sql[at];
    }
  }
  return text;
}

namespace {

std::vector<std::string> grantsTo(std::string_view role, std::string_view rights, const std::string& schema) {
  const bool writes = rights == "writer" || rights == "keeper";
  std::vector<std::string> texts;
  const auto grant = [&](std::string_view what) {
    texts.push_back(fmt::format("GRANT {} TO {}", inSchema(what, schema), quotedName(role)));
  };
  grant("USAGE ON SCHEMA " + quotedName(schema));
  grant("SELECT ON @.sessions, @.entries, @.attachments, @.settings");
  grant("SELECT ON @.catalog_sessions, @.catalog_answers, @.catalog_texts");
  if (writes) {
    grant("INSERT ON @.sessions, @.entries, @.attachments");
    // A writer may update the head row of a session and nothing else: it can neither change nor remove an entry.
    grant(
        "UPDATE (entry_count, bytes, tail_id, head_id, head_seq, head_segment, head_depth, head_fresh, was_head_id, "
        "was_head_seq, fence, lease_until_ms, lease_holder, version, changed_at, cataloged) ON @.sessions");
    // The catalog is derived from the sessions, and can be rebuilt.
    grant("INSERT, UPDATE, DELETE ON @.catalog_sessions, @.catalog_answers, @.catalog_texts");
    grant("UPDATE (held_until) ON @.attachments");
  }
  if (rights == "keeper") grant("UPDATE, DELETE ON @.sessions, @.entries, @.attachments");
  if (rights == "keeper") grant("INSERT, UPDATE ON @.settings");
  return texts;
}

// New tables and columns need new rights: each role that had rights on the entries gets the same kind of rights again.
Result<std::vector<std::string>> renewedRights(Pool& pool) {
  const std::string& schema = pool.location().schema;
  const std::string sql = inSchema(R"sql(
SELECT pg_get_userbyid(a.grantee)::text, bool_or(a.privilege_type = 'INSERT'), bool_or(a.privilege_type = 'DELETE')
  FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
  WHERE c.oid = '@.entries'::regclass AND a.grantee NOT IN (0, c.relowner) GROUP BY 1)sql",
                                   schema);
  BOUGH_TRY(const Rows roles, pool.run({.sql = sql}));
  std::vector<std::string> texts;
  for (int row = 0; row < roles.size(); ++row) {
    const std::string_view rights = roles.truth(row, 2) ? "keeper" : roles.truth(row, 1) ? "writer" : "reader";
    std::ranges::move(grantsTo(roles.text(row, 0), rights, schema), std::back_inserter(texts));
  }
  return texts;
}

}  // namespace

Result<SchemaReport> initSchema(Pool& pool) {
  SchemaReport report;
  const auto before = storedVersion(pool);
  if (!before) return std::unexpected(initError(before.error(), 1));
  report.before = *before;
  if (report.before > kSchemaVersion) return std::unexpected(newerSchema(pool, report.before));
  std::vector<std::string> texts;
  if (report.before == 0) {
    BOUGH_TRY(checkEncoding(pool));
    BOUGH_TRY(const bool there, hasSchema(pool));
    if (!there) texts.push_back("CREATE SCHEMA IF NOT EXISTS " + quotedName(pool.location().schema));
  }
  const auto add = [&](std::string_view sql) { texts.push_back(inSchema(sql, pool.location().schema)); };
  if (report.before > 0) {  // only one program at a time
    add(kLockVersion);
    add(fmt::format(kSameVersion, report.before));
  }
  for (auto step = static_cast<std::size_t>(report.before); step < kSchemaSteps.size(); ++step) {
    for (const std::string& statement : statementsOf(kSchemaSteps[step])) add(statement);
  }
  if (report.before < kSchemaVersion) add(kFastCompression);
  for (const std::string_view function : kReadFunctions) add(function);
  for (const std::string_view function : kAppendFunctions) add(function);
  for (const std::string_view function : kCatalogFunctions) add(function);
  add(
      fmt::format("INSERT INTO @.settings (name, value) VALUES ('schema_version', '{}') "
                  "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                  kSchemaVersion));
  if (report.before > 0 && report.before < kSchemaVersion) {  // in the same transaction as the upgrade
    BOUGH_TRY(auto rights, renewedRights(pool));
    std::ranges::move(rights, std::back_inserter(texts));
  }
  std::vector<Call> calls;
  for (const std::string& text : texts) calls.push_back({.name = "", .sql = text, .parameters = {}});
  auto done = pool.exchange(calls);
  if (done) return report;
  // Another program may have created or upgraded the schema at the same time.
  if (const auto now = storedVersion(pool); now && *now != report.before) {
    if (*now > kSchemaVersion) return std::unexpected(newerSchema(pool, *now));
    if (*now == kSchemaVersion) return SchemaReport{.before = *now};
  }
  return std::unexpected(initError(std::move(done.error().error), report.before));
}

Result<void> grantRights(Pool& pool, std::string_view role, std::string_view rights) {
  if (rights != "reader" && rights != "writer" && rights != "keeper") {
    return fail(ErrorCode::InvalidArgument, fmt::format("there are no rights called {}", rights),
                "choose reader, writer or keeper");
  }
  const std::string& schema = pool.location().schema;
  // One at a time: the server refuses two concurrent changes of the rights of one table.
  const std::string lock = inSchema(kLockVersion, schema);
  const std::vector<std::string> texts = grantsTo(role, rights, schema);
  std::vector<Call> calls{{.sql = lock}};
  for (const std::string& text : texts) calls.push_back({.sql = text});
  BOUGH_TRY(pool.run(calls));
  return {};
}

Result<void> checkSchema(Pool& pool, Clock* clock) {
  BOUGH_TRY(const Stored stored, readStored(pool));
  const int version = stored.version;
  if (version == kSchemaVersion)
    return clock == nullptr ? Result<void>() : checkClock(pool, clock->nowMs(), stored.nowMs);
  if (version > kSchemaVersion) return std::unexpected(newerSchema(pool, version));
  if (version == 0) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} holds no store in the schema {}", pool.location().shown, pool.location().schema),
                kInitHint);
  }
  return fail(ErrorCode::MigrationNeeded,
              fmt::format("{}: the store has schema version {}, this program needs {}", pool.location().shown, version,
                          kSchemaVersion),
              kInitHint);
}

std::optional<Error> schemaMismatchError(Pool& pool) {
  auto known = checkSchema(pool);
  if (known) return std::nullopt;
  Error& error = known.error();
  if (error.code == ErrorCode::MigrationNeeded || error.code == ErrorCode::NotFound) return std::move(error);
  if (error.code != ErrorCode::NewerFormat) return std::nullopt;
  error.message = "another program has upgraded the store: " + error.message;
  error.hint = "start this program again with a version of bough that knows that schema";
  return std::move(error);
}

}  // namespace bough::postgres
