// The trash of a store in PostgreSQL: a session in the trash is a row with a trash_id; its entries stay in place.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/postgres/postgres_backend.h"

namespace bough::postgres {
namespace {

constexpr Statement kList{"trash_list", R"sql(
SELECT trash_id, session_id, trashed_ms, bytes FROM @.sessions WHERE trash_id IS NOT NULL
  ORDER BY trashed_ms DESC, trash_id)sql"};
constexpr Statement kTrashOrigins{"trash_origins", R"sql(
SELECT trash_id, origin_session, origin_entry FROM @.sessions WHERE origin_session IS NOT NULL AND trash_id IS NOT NULL)sql"};
constexpr Statement kFind{"trash_find", R"sql(
SELECT s.session_id, s.entry_count, s.tail_id, s.head_id, s.origin_session, s.origin_entry, s.format, s.bytes, s.life
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id = $2)sql"};
constexpr Statement kMove{"trash_move", R"sql(
UPDATE @.sessions SET trash_id = $3, trashed_ms = $4, version = version + 1 WHERE session_id = $1 AND life = $2)sql"};
constexpr Statement kIsMoved{"trash_is_moved", R"sql(
SELECT 1 FROM @.sessions WHERE session_id = $1 AND life = $2 AND trash_id = $3)sql"};
// Locks the session that a fork continues while the fork is restored: a client that moves that session to the trash
// looks for forks under the same lock.
constexpr Statement kHoldOrigin{"trash_hold_origin", R"sql(
SELECT 1 FROM @.sessions o WHERE o.trash_id IS NULL
  AND o.session_id = (SELECT s.origin_session FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id = $2)
  FOR NO KEY UPDATE)sql"};
constexpr Statement kBringBack{"trash_bring_back", R"sql(
UPDATE @.sessions s SET trash_id = NULL, trashed_ms = NULL, version = version + 1, cataloged = false
  WHERE s.session_id = $1 AND s.trash_id = $2
    AND NOT EXISTS (SELECT 1 FROM @.sessions x WHERE x.session_id = $1 AND x.trash_id IS NULL)
    AND (s.origin_session IS NULL
         OR EXISTS (SELECT 1 FROM @.sessions o WHERE o.session_id = s.origin_session AND o.trash_id IS NULL)))sql"};
constexpr Statement kTrashRemoveEntries{"trash_remove_entries", R"sql(
DELETE FROM @.entries e USING @.sessions s
  WHERE s.session_id = $1 AND s.trash_id = $2 AND e.session_id = s.session_id AND e.life = s.life)sql"};
constexpr Statement kTrashRemoveSession{"trash_remove_session",
                                        "DELETE FROM @.sessions WHERE session_id = $1 AND trash_id = $2"};

// A trash id consists of the session's id, `~` and a number. So the lookup of a trash id uses the key by session.
std::string sessionIdIn(const std::string& trashId) {
  return trashId.substr(0, trashId.rfind('~'));
}

Parameters named(const std::string& trashId) {
  Parameters parameters;
  parameters.text(sessionIdIn(trashId)).text(trashId);
  return parameters;
}

Error alreadyExists(const std::string& sessionId) {
  return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
              "move that one to the trash first; both are kept there")
      .error();
}

}  // namespace

Result<std::vector<TrashedSession>> PostgresTrash::list() {
  BOUGH_TRY(const Rows rows, database_.run(kList, {}));
  std::vector<TrashedSession> found;
  for (int row = 0; row < rows.size(); ++row) {
    found.push_back({.trashId = rows.string(row, 0),
                     .sessionId = rows.string(row, 1),
                     .removedMs = static_cast<std::uint64_t>(rows.number(row, 2)),
                     .bytes = static_cast<std::uint64_t>(rows.number(row, 3))});
  }
  return found;
}

Result<Rows> PostgresTrash::find(const std::string& trashId) {
  BOUGH_TRY(Rows rows, database_.run(kFind, named(trashId)));
  if (!rows.empty()) return rows;
  return fail(ErrorCode::NotFound, fmt::format("there is no {} in the trash", trashId), "`bough trash` lists what is");
}

Result<void> PostgresTrash::exportLines(const std::string& trashId, const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const Rows rows, find(trashId));
  return exportLife(database_, rows.string(0, 0), rows.number(0, 8), line);
}

Result<TrashedSession> PostgresTrash::moveIf(const std::string& sessionId, const Allowed& allowed) {
  TrashedSession moved{.sessionId = sessionId, .removedMs = database_.environment.clock.nowMs()};
  const auto named = [&](std::int64_t life) {
    Parameters parameters;
    parameters.text(sessionId).number(life).text(moved.trashId);
    return parameters;
  };
  const auto calls = [&](const Rows& row) {
    moved.bytes = static_cast<std::uint64_t>(row.number(0, 7));
    // A session id can be in the trash more than once.
    moved.removedMs = std::max(moved.removedMs, static_cast<std::uint64_t>(row.number(0, 10) + 1));
    moved.trashId = fmt::format("{}~{}", sessionId, moved.removedMs);
    Parameters parameters = named(row.number(0, 8));
    parameters.number(static_cast<std::int64_t>(moved.removedMs));
    std::vector<Call> all = forgetCataloged(database_, sessionId);
    all.push_back(database_.call(kMove, std::move(parameters)));
    return all;
  };
  const auto isDone = [&](std::int64_t life) { return database_.call(kIsMoved, named(life)); };
  BOUGH_TRY(changeIf(database_, sessionId, allowed, {.calls = calls, .isDone = isDone}));
  return moved;
}

Result<SessionState> PostgresTrash::stateOf(const std::string& trashId) {
  BOUGH_TRY(const Rows rows, find(trashId));
  SessionState state = stateFrom(rows, 0);
  state.sessionId = trashId;
  return state;
}

Result<SeenOrigin> PostgresTrash::originOf(const std::string& trashId) {
  BOUGH_TRY(auto state, stateOf(trashId));
  return SeenOrigin{.origin = std::move(state.origin)};
}

Result<SeenOrigins> PostgresTrash::origins() {
  BOUGH_TRY(const Rows rows, database_.run(kTrashOrigins, {}));
  SeenOrigins found;
  for (int row = 0; row < rows.size(); ++row) {
    found.emplace_back(rows.string(row, 0), SeenOrigin{.origin = ForkOrigin{rows.string(row, 1), rows.string(row, 2)}});
  }
  return found;
}

Result<void> PostgresTrash::moveBack(const std::string& trashId) {
  BOUGH_TRY(const Rows found, find(trashId));
  const std::vector<Call> calls{database_.call(kHoldOrigin, named(trashId)),
                                database_.call(kBringBack, named(trashId))};
  auto done = database_.pool.exchange(calls);
  const bool isTaken = !done && done.error().sqlState == "23505";
  if (!done && !isTaken) return std::unexpected(database_.pool.explained(std::move(done.error())).error);
  if (done && done->back().changed() > 0) return {};
  // Another session has the id, or an attempt of this call whose answer was lost has restored this one.
  const std::string sessionId = sessionIdIn(trashId);
  BOUGH_TRY(const Rows back, database_.pool.run(hasLife(database_, sessionId, found.number(0, 8))));
  if (!back.empty()) return {};
  const bool isFork = !found.isNull(0, 4);
  if (isTaken || !isFork || !done->front().empty()) return std::unexpected(alreadyExists(sessionId));
  return fail(ErrorCode::NotFound,
              fmt::format("{} continues session {}, which is not in the store", trashId, found.text(0, 4)),
              fmt::format("bring that one back first: `bough trash --restore {}`", found.text(0, 4)));
}

Result<void> PostgresTrash::removeOne(const std::string& trashId) {
  BOUGH_TRY(find(trashId));
  const std::vector<Call> calls{database_.call(kTrashRemoveEntries, named(trashId)),
                                database_.call(kTrashRemoveSession, named(trashId))};
  BOUGH_TRY(database_.pool.run(calls));
  return {};
}

}  // namespace bough::postgres
