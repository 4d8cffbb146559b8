#include "store/postgres/postgres_session.h"

#include <algorithm>
#include <unordered_map>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/format/entry_body.h"
#include "log/format/line.h"

namespace bough::postgres {
namespace {

constexpr Statement kState{"state", R"sql(
SELECT s.session_id, s.entry_count, s.tail_id, s.head_id, s.origin_session, s.origin_entry, s.format, s.bytes, s.life
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kHeader{"header", R"sql(
SELECT e.entry_id, e.parent_id, e.body FROM @.sessions s
  JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND e.seq = 0
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kSequence{"sequence", R"sql(
SELECT e.seq FROM @.sessions s
  LEFT JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND e.entry_id = $2
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kOutline{"outline", R"sql(
SELECT e.seq, e.kind, e.parent_seq FROM @.sessions s
  JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL ORDER BY e.seq)sql"};
constexpr Statement kSelect{"select", R"sql(
SELECT e.seq FROM @.sessions s JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND e.seq >= $2 AND ($3 < 0 OR (e.kind = $3 AND ($3 > 0 OR e.type = $4)))
  ORDER BY e.seq LIMIT $5)sql"};
constexpr Statement kSelectLast{"select_last", R"sql(
SELECT e.seq FROM @.sessions s JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND e.seq >= $2 AND ($3 < 0 OR (e.kind = $3 AND ($3 > 0 OR e.type = $4)))
  ORDER BY e.seq DESC LIMIT $5)sql"};
constexpr Statement kControls{"controls", R"sql(
SELECT e.seq FROM @.sessions s JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND e.kind >= 12 AND (1::bigint << e.kind) & $2::bigint <> 0
  ORDER BY e.seq)sql"};
constexpr Statement kRead{"read", R"sql(
SELECT e.entry_id, e.parent_id, e.body, e.seq FROM @.sessions s
  JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND e.seq = ANY ($2))sql"};
constexpr Statement kIds{"ids", R"sql(
SELECT e.entry_id FROM @.sessions s JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND starts_with(e.entry_id, $2) ORDER BY e.seq LIMIT $3)sql"};
constexpr Statement kBranch{"own_branch", R"sql(
SELECT e.seq, e.parent_seq, e.parent_id FROM @.sessions s
  CROSS JOIN LATERAL @.runs(s.session_id, s.life, $2::integer, $3) r
  JOIN @.entries e ON e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
    AND e.seq BETWEEN r.first_seq AND r.last_seq
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND r.session_id = s.session_id ORDER BY e.depth DESC LIMIT $3)sql"};
constexpr Statement kLines{"lines", R"sql(
SELECT entry_id, parent_id, body FROM @.entries WHERE session_id = $1 AND life = $2 AND seq >= $3
  ORDER BY seq LIMIT $4)sql"};

std::vector<std::uint64_t> sequencesOf(const Rows& rows) {
  std::vector<std::uint64_t> found;
  for (int row = 0; row < rows.size(); ++row) found.push_back(static_cast<std::uint64_t>(rows.number(row, 0)));
  return found;
}

}  // namespace

SessionState stateFrom(const Rows& rows, int row) {
  SessionState state{.sessionId = rows.string(row, 0),
                     .entryCount = static_cast<std::uint64_t>(rows.number(row, 1)),
                     .tailId = rows.string(row, 2),
                     .headId = rows.string(row, 3),
                     .format = static_cast<int>(rows.number(row, 6)),
                     .bytes = static_cast<std::uint64_t>(rows.number(row, 7))};
  if (!rows.isNull(row, 4)) state.origin = ForkOrigin{.sessionId = rows.string(row, 4), .entryId = rows.string(row, 5)};
  return state;
}

Result<Entry> entryFrom(const EntrySerializer& serializer, const Rows& rows, int row, std::string& line) {
  const std::string_view body = rows.text(row, 2);
  // The built-in format can be read without the ids: the row contains them.
  if (&serializer == &jsonEntrySerializer() && body.starts_with(',')) {
    line.assign(1, '{').append(body, 1);
    BOUGH_TRY(Entry entry, serializer.decode(line));
    entry.id = rows.text(row, 0);
    entry.parentId->assign(rows.text(row, 1));
    return entry;
  }
  lineOf(rows.text(row, 0), rows.text(row, 1), body, line);
  return serializer.decode(line);
}

Result<void> addEntryFrom(const EntrySerializer& serializer, const Rows& rows, int row, std::string& line,
                          std::vector<Entry>& entries) {
  if (&serializer == &jsonEntrySerializer()) {
    Entry& entry = entries.emplace_back();
    if (readEntryBody(rows.text(row, 2), entry)) {
      entry.id = rows.text(row, 0);
      entry.parentId.emplace(rows.text(row, 1));
      return {};
    }
    entries.pop_back();
  }
  BOUGH_TRY(Entry entry, entryFrom(serializer, rows, row, line));
  entries.push_back(std::move(entry));
  return {};
}

Parameters PostgresSession::byId() const {
  Parameters parameters;
  parameters.text(sessionId());
  return parameters;
}

Result<SessionState> PostgresSession::state() {
  BOUGH_TRY(const Rows rows, database_.run(kState, byId()));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  SessionState found = stateFrom(rows, 0);
  found.lostPayloads = sessions().lostPayloads().count(sessionId());
  return found;
}

Result<std::uint64_t> PostgresSession::generation() {
  BOUGH_TRY(const Rows rows, database_.run(kState, byId()));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  return static_cast<std::uint64_t>(rows.number(0, 8));
}

Result<std::optional<ForkOrigin>> PostgresSession::origin() {
  BOUGH_TRY(auto known, state());
  return std::move(known.origin);
}

Result<Entry> PostgresSession::header() {
  BOUGH_TRY(const Rows rows, database_.run(kHeader, byId()));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  std::string line;
  return entryFrom(database_.serializer, rows, 0, line);
}

Result<std::optional<std::uint64_t>> PostgresSession::ownSequenceOf(std::string_view entryId) {
  BOUGH_TRY(const Rows rows, database_.run(kSequence, byId().text(entryId)));
  if (rows.empty()) return std::unexpected(database_.noSession(sessionId()));
  if (rows.isNull(0, 0)) return std::nullopt;
  return static_cast<std::uint64_t>(rows.number(0, 0));
}

Result<std::vector<std::uint64_t>> PostgresSession::ownSelect(const Selection& selection) {
  const std::int64_t kind = selection.type.empty() ? -1 : static_cast<std::int64_t>(entryKind(selection.type));
  Parameters parameters = byId();
  parameters.number(integer(selection.fromSequence)).number(kind).text(selection.type).number(integer(selection.limit));
  BOUGH_TRY(const Rows rows, database_.run(selection.newestFirst ? kSelectLast : kSelect, std::move(parameters)));
  if (rows.empty()) {
    BOUGH_TRY(state());
  }
  return sequencesOf(rows);
}

Result<std::vector<std::uint64_t>> PostgresSession::ownControls(std::span<const EntryKind> kinds) {
  std::int64_t bits = 0;
  for (const EntryKind kind : kinds) bits |= std::int64_t{1} << static_cast<unsigned>(kind);
  Parameters parameters = byId();
  parameters.number(bits);
  BOUGH_TRY(const Rows rows, database_.run(kControls, std::move(parameters)));
  return sequencesOf(rows);
}

Result<SessionOutline> PostgresSession::ownOutline() {
  std::vector<Call> calls;
  calls.push_back(database_.call(kState, byId()));
  calls.push_back(database_.call(kOutline, byId()));
  calls.push_back(database_.call(
      {"head_sequence", "SELECT head_seq FROM @.sessions WHERE session_id = $1 AND trash_id IS NULL"}, byId()));
  BOUGH_TRY(const auto results, database_.pool.run(calls));
  if (results[0].empty() || results[2].empty()) return std::unexpected(database_.noSession(sessionId()));
  const auto sequence = [](std::int64_t stored) {
    if (stored == BatchPlan::kRoot) return kNoSequence;
    return stored < 0 ? kElsewhere : static_cast<std::uint32_t>(stored);
  };
  SessionOutline outline;
  const Rows& rows = results[1];
  outline.kinds.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    outline.add(static_cast<EntryKind>(rows.number(row, 1)), sequence(rows.number(row, 2)));
  }
  outline.head = sequence(results[2].number(0, 0));
  return outline;
}

Result<std::vector<std::string>> PostgresSession::ownIds(std::string_view prefix, std::size_t limit) {
  BOUGH_TRY(const Rows rows, database_.run(kIds, byId().text(prefix).number(integer(limit))));
  if (rows.empty()) {
    BOUGH_TRY(state());
  }
  std::vector<std::string> found;
  for (int row = 0; row < rows.size(); ++row) found.push_back(rows.string(row, 0));
  return found;
}

Result<BranchPart> PostgresSession::ownBranch(std::uint64_t leaf, std::size_t limit) {
  BOUGH_TRY(const Rows rows, database_.run(kBranch, byId().number(integer(leaf)).number(integer(limit))));
  if (rows.empty()) return changedWhileRead("session " + sessionId());
  BranchPart part{.sequences = sequencesOf(rows), .continuesAt = {}};
  std::ranges::reverse(part.sequences);
  if (rows.number(rows.size() - 1, 1) < 0) part.continuesAt = rows.string(rows.size() - 1, 2);
  return part;
}

Result<std::vector<Entry>> PostgresSession::ownRead(std::span<const std::uint64_t> sequences) {
  std::vector<Entry> entries;
  if (sequences.empty()) return entries;
  const std::vector<std::int64_t> wanted(sequences.begin(), sequences.end());
  BOUGH_TRY(const Rows rows, database_.run(kRead, byId().numbers(wanted)));
  std::unordered_map<std::uint64_t, int> places;
  for (int row = 0; row < rows.size(); ++row) places.emplace(static_cast<std::uint64_t>(rows.number(row, 3)), row);
  std::string line;
  for (const std::uint64_t sequence : sequences) {
    const auto found = places.find(sequence);
    if (found == places.end()) return changedWhileRead("session " + sessionId());
    BOUGH_TRY(auto entry, entryFrom(database_.serializer, rows, found->second, line));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<void> exportLife(Database& database, const std::string& sessionId, std::int64_t life,
                        const std::function<bool(std::string_view)>& line) {
  constexpr int kPart = 500;
  SealDigits seal;
  std::string stored;
  std::string sealed;
  for (std::int64_t next = 0;;) {
    Parameters parameters;
    parameters.text(sessionId).number(life).number(next).number(kPart);
    BOUGH_TRY(const Rows rows, database.run(kLines, std::move(parameters)));
    for (int row = 0; row < rows.size(); ++row) {
      lineOf(rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), stored);
      sealed.clear();
      seal = appendSealedLine(sealed, stored, seal, 1, 1);
      sealed.pop_back();
      if (!line(sealed)) return {};
    }
    if (rows.size() < kPart) return {};
    next += kPart;
  }
}

Result<void> PostgresSession::exportLines(const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const std::uint64_t life, generation());
  return exportLife(database_, sessionId(), static_cast<std::int64_t>(life), line);
}

Result<std::unique_ptr<ChangeWatcher>> PostgresSession::watch() {
  BOUGH_TRY(state());
  return changes_.watch({sessionId()});
}

}  // namespace bough::postgres
