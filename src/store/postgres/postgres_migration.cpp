// A session of an older format gets the header of the present one; its other entries are the same in both.

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
  BOUGH_TRY(changeIf(*database_, sessionId, allowed, [&](const Rows& row) {
    Parameters body;
    body.text(sessionId).number(row.number(0, 8)).bytes(now);
    Parameters format;
    format.text(sessionId).number(row.number(0, 8)).number(done.toFormat);
    format.number(static_cast<std::int64_t>(now.size()) - static_cast<std::int64_t>(before.size()));
    return std::vector<Call>{database_->call(kMigrateHeader, std::move(body)),
                             database_->call(kFormat, std::move(format))};
  }));
  hub_.note(sessionId);
  return done;
}

}  // namespace bough::postgres
