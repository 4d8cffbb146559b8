// The turns of a session: their numbers, and their leases, which end by the server's clock.

#include "base/try.h"
#include "store/postgres/postgres_session.h"
#include "store/rules/entry_rules.h"
#include "store/rules/turn_rules.h"

namespace bough::postgres {
namespace {

constexpr Statement kBeginTurn{"begin_turn", R"sql(
UPDATE @.sessions SET fence = fence + 1, lease_until_ms = 0, lease_holder = ''
  WHERE session_id = $1 AND trash_id IS NULL RETURNING fence)sql"};
// No lease lasts longer than an hour: one that seems to was taken before the server's clock was set back. $3 identifies
// the attempt: a client that retries because the answer was lost gets the lease that it already has, with the same
// number. The first attempt may reach the server after the second.
constexpr Statement kLeaseTurn{"lease_turn", R"sql(
WITH taken AS (
  UPDATE @.sessions SET fence = fence + (lease_holder <> $3)::int, lease_holder = $3,
      lease_until_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $2
    WHERE session_id = $1 AND trash_id IS NULL
      AND (lease_holder = $3 OR lease_until_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint
             NOT BETWEEN 1 AND 3600000)
    RETURNING fence)
SELECT (SELECT fence FROM taken), s.fence,
    greatest(s.lease_until_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0)
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kRenewTurn{"renew_turn", R"sql(
WITH kept AS (
  UPDATE @.sessions SET
      lease_until_ms = CASE WHEN $2 = 0 THEN 0 ELSE (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $2 END
    WHERE session_id = $1 AND trash_id IS NULL AND fence = $3
    RETURNING fence)
SELECT (SELECT fence FROM kept), s.fence, s.tail_id
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};

}  // namespace

Result<std::uint64_t> PostgresSession::beginTurn() {
  BOUGH_TRY(const Rows rows, database_.run(kBeginTurn, byId()));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  return static_cast<std::uint64_t>(rows.number(0, 0));
}

Result<std::uint64_t> PostgresSession::leaseTurn(const TurnLease& lease) {
  Parameters parameters = byId();
  parameters.number(bigint(lease.leaseMs));
  const bool begins = lease.turn == 0;
  begins ? parameters.text(database_.ids.next()) : parameters.number(bigint(lease.turn));
  BOUGH_TRY(const Rows rows, database_.run(begins ? kLeaseTurn : kRenewTurn, std::move(parameters)));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  if (!rows.isNull(0, 0)) return static_cast<std::uint64_t>(rows.number(0, 0));
  const auto latest = static_cast<std::uint64_t>(rows.number(0, 1));
  if (!begins) return std::unexpected(turnConflict(sessionId(), lease.turn, latest, rows.text(0, 2)));
  return std::unexpected(turnIsHeld(sessionId(), latest, static_cast<std::uint64_t>(rows.number(0, 2))));
}

}  // namespace bough::postgres
