// Migrates a session of an older format: its header is replaced; its other entries are the same in both formats.

#include "base/try.h"
#include "store/postgres/postgres_backend.h"
#include "store/rules/header.h"

namespace bough::postgres {
namespace {

constexpr Statement kMigrateHeader{"migrate_header", R"sql(
UPDATE @.entries SET body = $3 WHERE session_id = $1 AND life = $2 AND seq = 0)sql"};
constexpr Statement kFormat{"migrate_format", R"sql(
UPDATE @.sessions SET format = $3, bytes = bytes + $4, version = version + 1, changed_at = now(), cataloged = false
  WHERE session_id = $1 AND life = $2)sql"};

constexpr Statement kIsMigrated{"is_migrated", R"sql(
SELECT 1 FROM @.sessions WHERE session_id = $1 AND life = $2 AND format = $3)sql"};

}  // namespace

Result<MigrationResult> PostgresBackend::migrate(const std::string& sessionId) {
  BOUGH_TRY(const auto found, session(sessionId));
  BOUGH_TRY(const SessionState state, found->state());
  BOUGH_TRY(Entry header, found->header());
  MigrationResult done{.sessionId = sessionId,
                       .fromFormat = readHeader(header).format,
                       .toFormat = database_->serializer.schemaVersion(),
                       .entries = state.entryCount};
  if (done.fromFormat > done.toFormat) {
    return std::unexpected(newerFormatError(done.fromFormat, sessionId, describe()));
  }
  if (done.fromFormat == done.toFormat) return done;
  BatchLines lines;
  BOUGH_TRY(lines.add(header, database_->serializer));
  header.payload = upgradeHeaderPayload(header.payload, sessionId, done.toFormat);
  BOUGH_TRY(lines.add(header, database_->serializer));
  const std::string_view before = bodyOf(lines[0]);
  const std::string_view now = bodyOf(lines[1]);
  const auto allowed = []() -> Result<void> { return {}; };
  const auto ofLife = [&](std::int64_t life) {
    Parameters parameters;
    parameters.text(sessionId).number(life);
    return parameters;
  };
  const auto calls = [&](const Rows& row) {
    std::vector<Call> all;
    if (row.number(0, 6) == done.toFormat) return all;  // another client has already migrated the session
    Parameters body = ofLife(row.number(0, 8));
    body.bytes(now);
    Parameters format = ofLife(row.number(0, 8));
    format.number(done.toFormat);
    format.number(static_cast<std::int64_t>(now.size()) - static_cast<std::int64_t>(before.size()));
    all.push_back(database_->call(kMigrateHeader, std::move(body)));
    all.push_back(database_->call(kFormat, std::move(format)));
    return all;
  };
  const auto isDone = [&](std::int64_t life) {
    return database_->call(kIsMigrated, std::move(ofLife(life).number(done.toFormat)));
  };
  BOUGH_TRY(changeIf(*database_, sessionId, allowed, {.calls = calls, .isDone = isDone}));
  hub_.note(sessionId);
  return done;
}

}  // namespace bough::postgres
