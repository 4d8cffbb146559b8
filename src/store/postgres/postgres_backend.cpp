#include "store/postgres/postgres_backend.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/bytes/sha256.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/store.h"
#include "store/postgres/schema/schema.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"

namespace bough::postgres {
namespace {

constexpr Statement kListSessions{"list_sessions",
                                  "SELECT session_id FROM @.sessions WHERE trash_id IS NULL ORDER BY session_id"};
constexpr Statement kForks{"forks", R"sql(
SELECT session_id FROM @.sessions WHERE origin_session = $1 AND trash_id IS NULL ORDER BY session_id)sql"};
constexpr Statement kOrigins{"origins", R"sql(
SELECT session_id, origin_session, origin_entry FROM @.sessions WHERE origin_session IS NOT NULL AND trash_id IS NULL)sql"};
constexpr Statement kSettings{"settings", "SELECT value FROM @.settings WHERE name = 'store'"};
constexpr Statement kSaveSettings{"save_settings", R"sql(
INSERT INTO @.settings (name, value) VALUES ('store', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql"};
constexpr Statement kCreate{"create", R"sql(
SELECT * FROM @.create_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17))sql"};
constexpr Statement kLockRow{"lock_row", R"sql(
SELECT s.session_id, s.entry_count, s.tail_id, s.head_id, s.origin_session, s.origin_entry, s.format, s.bytes, s.life,
    s.fence, (SELECT max(x.trashed_ms) FROM @.sessions x WHERE x.session_id = s.session_id), s.lease_until_ms,
    s.lease_holder
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id IS NULL FOR UPDATE)sql"};
constexpr Statement kKeepTurn{"keep_turn", R"sql(
UPDATE @.sessions SET fence = $2, lease_until_ms = $3, lease_holder = $4 WHERE session_id = $1 AND trash_id IS NULL)sql"};
constexpr Statement kRemoveEntries{"remove_entries", "DELETE FROM @.entries WHERE session_id = $1 AND life = $2"};
constexpr Statement kRemoveSession{"remove_session", "DELETE FROM @.sessions WHERE session_id = $1 AND life = $2"};
constexpr Statement kHasLife{"has_life", R"sql(
SELECT 1 FROM @.sessions WHERE session_id = $1 AND life = $2 AND trash_id IS NULL)sql"};
constexpr Statement kIsRemoved{"is_removed", R"sql(
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM @.sessions WHERE session_id = $1 AND life = $2))sql"};
constexpr Statement kVersions{"versions", R"sql(
SELECT session_id, life, version FROM @.sessions WHERE trash_id IS NULL ORDER BY session_id)sql"};
constexpr Statement kStamp{"stamp", R"sql(
SELECT life, version FROM @.sessions WHERE session_id = $1 AND trash_id IS NULL)sql"};

Parameters parametersOf(std::string_view text) {
  Parameters parameters;
  parameters.text(text);
  return parameters;
}

// Returns a number that distinguishes successive sessions with the same id.
std::int64_t newLife(Environment& environment) {
  return static_cast<std::int64_t>(environment.random.next() & 0x7FFFFFFE) + 1;
}

Parameters parametersOf(std::string_view sessionId, std::int64_t life) {
  Parameters parameters;
  parameters.text(sessionId).number(life);
  return parameters;
}

Call createCall(Database& database, const std::string& sessionId, std::int64_t life, const BatchLines& lines,
                const HeaderInfo& header) {
  const BatchPlan plan = planBatch(lines, header.origin ? header.origin->entryId : "");
  Parameters parameters = parametersOf(sessionId, life);
  parameters.number(header.format);
  if (header.origin) {
    parameters.text(header.origin->sessionId).text(header.origin->entryId);
  } else {
    parameters.nothing().nothing();
  }
  parameters.number(kindBits(isConversation));
  plan.addEntries(parameters);
  plan.addHead(parameters);
  return database.call(kCreate, std::move(parameters));
}

// Returns the statements that remove the life in a row of kLockRow.
std::vector<Call> removalOf(Database& database, const std::string& sessionId, const Rows& row) {
  std::vector<Call> calls = forgetCataloged(database, sessionId);
  for (const Statement* statement : {&kRemoveEntries, &kRemoveSession}) {
    calls.push_back(database.call(*statement, parametersOf(sessionId, row.number(0, 8))));
  }
  return calls;
}

}  // namespace

Result<void> changeIf(Database& database, const std::string& sessionId, const Allowed& allowed,
                      const SessionChange& change) {
  std::optional<std::int64_t> tried;  // the life that an earlier attempt may have changed
  auto done = database.transaction([&](Connection& connection) -> Exchange<void> {
    const Deadline deadline = database.pool.deadline();
    const bool prepare = database.pool.prepares();
    std::vector<Call> locks{{.sql = "BEGIN"}, database.call(kLockRow, parametersOf(sessionId))};
    if (tried) locks.push_back(change.isDone(*tried));
    auto locked = connection.run(locks, prepare, deadline);
    if (!locked) return std::unexpected(locked.error());
    std::vector<Call> changes;
    if (!tried || locked->back().empty()) {
      const Rows& session = (*locked)[1];
      if (session.empty()) return std::unexpected(Failure{.error = database.noSession(sessionId)});
      if (auto may = allowed(); !may) return std::unexpected(Failure{.error = may.error()});
      tried = session.number(0, 8);
      changes = change.calls(session);
    }
    changes.push_back({.sql = "COMMIT"});
    auto changed = connection.run(changes, prepare, deadline);
    if (!changed) return std::unexpected(changed.error());
    return {};
  });
  if (!done) return std::unexpected(std::move(done.error().error));
  return {};
}

Call hasLife(Database& database, const std::string& sessionId, std::int64_t life) {
  return database.call(kHasLife, parametersOf(sessionId, life));
}

PostgresBackend::PostgresBackend(std::unique_ptr<Database> database)
    : SharingBackend(database->ids),
      database_(std::move(database)),
      queue_(*database_),
      hub_(*database_),
      trash_(*this, *database_),
      attachments_(*database_),
      catalog_(*database_) {}

Result<void> PostgresBackend::probe() {
  auto known = checkSchema(database_->pool, requiresClock_ ? &database_->environment.clock : nullptr);
  // Only a read was tried: a role without the right to read cannot use the store.
  if (!known && known.error().code == ErrorCode::ReadOnly) {
    known.error().code = ErrorCode::InvalidArgument;
    known.error().hint =
        "give this role rights: `bough store init --reader ROLE` (or --writer, --keeper); see docs/scale.md";
  }
  return known;
}

Result<std::vector<std::string>> PostgresBackend::listSessions() {
  BOUGH_TRY(const Rows rows, database_->run(kListSessions, {}));
  std::vector<std::string> ids;
  for (int row = 0; row < rows.size(); ++row) ids.push_back(rows.string(row, 0));
  return ids;
}

Result<std::vector<std::string>> PostgresBackend::forksOf(const std::string& sessionId) {
  BOUGH_TRY(const Rows rows, database_->run(kForks, parametersOf(sessionId)));
  std::vector<std::string> ids;
  for (int row = 0; row < rows.size(); ++row) ids.push_back(rows.string(row, 0));
  return ids;
}

Result<std::string> PostgresBackend::settings() {
  BOUGH_TRY(const Rows rows, database_->run(kSettings, {}));
  return rows.empty() ? std::string() : rows.string(0, 0);
}

Result<void> PostgresBackend::saveSettings(std::string_view text) {
  BOUGH_TRY(database_->run(kSaveSettings, parametersOf(text)));
  return {};
}

Result<std::shared_ptr<SharingSession>> PostgresBackend::session(const std::string& sessionId) {
  return std::make_shared<PostgresSession>(*this, *database_, queue_, hub_, sessionId);
}

std::vector<Result<AppendResult>> PostgresBackend::append(const std::vector<SessionAppend>& batches) {
  std::vector<PostgresSession::Batch> mine;
  for (const auto& [session, request] : batches) {
    mine.push_back({.session = dynamic_cast<PostgresSession*>(session), .request = request});
    BOUGH_CHECK(mine.back().session != nullptr);
  }
  return PostgresSession::appendAll(queue_, mine);
}

Result<void> PostgresBackend::create(const SessionCreation& creation) {
  return storeNew(creation.sessionId, creation.entries);
}

// The header names the origin. The database checks under its row lock that a fork can continue from it.
Result<void> PostgresBackend::storeNew(const std::string& sessionId, const std::vector<Entry>& entries) {
  BOUGH_TRY(checkSessionId(sessionId));
  const HeaderInfo header = entries.empty() ? HeaderInfo{} : readHeader(entries.front());
  const auto noEntry = [&] {
    return fail(ErrorCode::NotFound,
                fmt::format("session {} has no entry {}", header.origin->sessionId, header.origin->entryId),
                "`bough cat` prints all entries of a session");
  };
  if (header.origin && !isEntryId(header.origin->entryId)) {  // a header cannot name such an entry
    BOUGH_TRY(stamp(header.origin->sessionId));
    return noEntry();
  }
  BOUGH_TRY(const BatchLines lines, prepareFirstBatch(entries, database_->serializer));
  const std::int64_t life = newLife(database_->environment);
  BOUGH_TRY(const Rows rows, database_->pool.run(createCall(*database_, sessionId, life, lines, header)));
  switch (rows.number(0, 0)) {
    case 0: hub_.note(sessionId); return {};
    case 1:
      return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                  "choose another id, or append to that one");
    case 2: return std::unexpected(database_->noSession(header.origin->sessionId));
    case 3: return noEntry();
    default: {
      const std::string said = rows.string(0, 1);
      const bool number = !said.empty() && said.find_first_not_of("0123456789") == std::string::npos;
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("entry {} is a {}: a fork cannot continue from it", header.origin->entryId,
                              number ? typeOf(static_cast<EntryKind>(std::stoi(said))) : said),
                  "name a message or another entry of the conversation");
    }
  }
}

// Stores the entries as a new life of the session, and removes the previous life.
Result<void> PostgresBackend::rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                                      const std::string& expectedTail) {
  BOUGH_TRY(const BatchLines lines, prepareFirstBatch(entries, database_->serializer));
  const HeaderInfo header = readHeader(entries.front());
  std::string tail;
  const auto unchanged = [&]() -> Result<void> {
    BOUGH_TRY(const auto found, session(sessionId));
    BOUGH_TRY(const auto state, found->state());
    if (state.tailId == expectedTail) return {};
    return std::unexpected(tailConflict(sessionId, expectedTail, state.tailId));
  };
  const std::int64_t life = newLife(database_->environment);
  const auto calls = [&](const Rows& row) {
    std::vector<Call> all = removalOf(*database_, sessionId, row);
    all.push_back(createCall(*database_, sessionId, life, lines, header));
    Parameters turn;
    turn.text(sessionId).number(row.number(0, 9)).number(row.number(0, 11)).text(row.text(0, 12));
    all.push_back(database_->call(kKeepTurn, std::move(turn)));
    return all;
  };
  const auto isDone = [&](std::int64_t) { return hasLife(*database_, sessionId, life); };
  BOUGH_TRY(changeIf(*database_, sessionId, unchanged, {.calls = calls, .isDone = isDone}));
  hub_.note(sessionId);
  return {};
}

Result<void> PostgresBackend::removeIf(const std::string& sessionId, const Allowed& allowed) {
  const auto calls = [&](const Rows& row) { return removalOf(*database_, sessionId, row); };
  const auto isDone = [&](std::int64_t life) { return database_->call(kIsRemoved, parametersOf(sessionId, life)); };
  BOUGH_TRY(changeIf(*database_, sessionId, allowed, {.calls = calls, .isDone = isDone}));
  hub_.note(sessionId);
  return {};
}

std::string PostgresBackend::folder() const {
  if (catalogFolder_.empty()) return {};
  std::error_code failed;
  const bool fresh = std::filesystem::create_directories(catalogFolder_, failed);
  if (fresh) std::filesystem::permissions(catalogFolder_, std::filesystem::perms::owner_all, failed);
  return std::filesystem::is_directory(catalogFolder_, failed) ? catalogFolder_ : "";
}

bool PostgresBackend::has(const std::string& sessionId) {
  const auto rows = database_->run(kStamp, parametersOf(sessionId));
  return rows && !rows->empty();
}

Result<std::unique_ptr<ChangeWatcher>> PostgresBackend::watch(const std::vector<std::string>& sessionIds) {
  for (const std::string& id : sessionIds) BOUGH_TRY(stamp(id));
  return hub_.watch(sessionIds);
}

Result<SeenOrigin> PostgresBackend::seenOrigin(const std::string& sessionId) {
  BOUGH_TRY(const auto found, session(sessionId));
  BOUGH_TRY(auto origin, found->origin());
  return SeenOrigin{.origin = std::move(origin)};
}

Result<SeenOrigins> PostgresBackend::seenOrigins(const std::function<bool(const std::string&)>& isKnown) {
  BOUGH_TRY(const Rows rows, database_->run(kOrigins, {}));
  SeenOrigins found;
  for (int row = 0; row < rows.size(); ++row) {
    if (isKnown(rows.string(row, 0))) continue;
    found.emplace_back(rows.string(row, 0), SeenOrigin{.origin = ForkOrigin{rows.string(row, 1), rows.string(row, 2)}});
  }
  return found;
}

// create() checks the origin under its own lock, so nothing has to be pinned here.
Result<std::unique_ptr<Hold>> PostgresBackend::pin(const std::string& sessionId, const std::string& /*entryId*/) {
  BOUGH_TRY(seenOrigin(sessionId));
  return std::make_unique<Hold>();
}

Result<ChangeSet> PostgresBackend::since(std::string_view token) {
  BOUGH_TRY(const Rows rows, database_->run(kVersions, {}));
  Sha256 sum;
  for (int row = 0; row < rows.size(); ++row) {
    sum.add(fmt::format("{} {} {}\n", rows.text(row, 0), rows.number(row, 1), rows.number(row, 2)));
  }
  ChangeSet changes{.token = sum.hex()};
  changes.all = changes.token != token;
  return changes;
}

Result<std::string> PostgresBackend::stamp(const std::string& sessionId) {
  BOUGH_TRY(const Rows rows, database_->run(kStamp, parametersOf(sessionId)));
  if (rows.empty()) return std::unexpected(database_->noSession(sessionId));
  return fmt::format("{} {}", rows.number(0, 0), rows.number(0, 1));
}

Result<std::shared_ptr<PostgresBackend>> PostgresBackend::open(const std::string& url, PoolOptions options,
                                                               const EntrySerializer& serializer,
                                                               Environment& environment) {
  BOUGH_TRY(auto location, parseLocation(url));
  return std::make_shared<PostgresBackend>(
      std::make_unique<Database>(std::move(location), options, serializer, environment));
}

}  // namespace bough::postgres

namespace bough {
namespace {

// Returns the folder for data derived from the store on this machine: below $XDG_CACHE_HOME or ~/.cache, one folder for
// each store.
std::string catalogFolder(const std::string& shownUrl) {
  const std::string cache = userFolder(UserFolder::Cache);
  return cache.empty() ? "" : cache + "/bough/" + Sha256::of(shownUrl).substr(0, 16);
}

}  // namespace

Result<std::shared_ptr<StorageBackend>> makePostgresBackend(const std::string& url, const StoreOptions& options,
                                                            const EntrySerializer& serializer) {
  BOUGH_TRY(auto backend,
            postgres::PostgresBackend::open(url, {.timeout = std::chrono::milliseconds(options.lockTimeoutMs)},
                                            serializer, systemEnvironment()));
  backend->keepCatalogIn(catalogFolder(backend->describe()));
  backend->requireClock();
  return backend;
}

Result<void> grantPostgresStore(const std::string& url, const std::string& role, const std::string& rights) {
  BOUGH_TRY(auto location, postgres::parseLocation(url));
  postgres::Pool pool(std::move(location));
  return postgres::grantRights(pool, role, rights);
}

bool isPostgresLocation(std::string_view location) {
  return postgres::isDatabaseUrl(location);
}

std::string shownLocation(const std::string& location) {
  if (!postgres::isDatabaseUrl(location)) return location;
  const auto parsed = postgres::parseLocation(location);
  return parsed ? parsed->shown : "postgresql://…";
}

Result<PostgresSchema> initPostgresStore(const std::string& url) {
  BOUGH_TRY(auto location, postgres::parseLocation(url));
  postgres::Pool pool(std::move(location));
  BOUGH_TRY(const auto report, postgres::initSchema(pool));
  return PostgresSchema{.versionBefore = report.before, .version = report.now};
}

}  // namespace bough
