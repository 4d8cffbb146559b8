// The tree of a session, its labels, its own entries and ids: one exchange each.

#include <map>
#include <set>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "store/postgres/attached.h"
#include "store/postgres/postgres_session.h"
#include "store/rules/attachment_reference.h"

namespace bough::postgres {
namespace {

// A fork's lineage is followed once for all entries that a statement looks for, not once for each.
constexpr Statement kHeadPlace{"shape_head", R"sql(
SELECT s.shared_count, s.head_seq,
    CASE WHEN s.head_seq = -2 THEN (SELECT l.depth FROM @.locate($1, ARRAY[s.head_id]) l WHERE NOT l.own LIMIT 1) END
  FROM @.sessions s WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kOwnShape{"shape_own", R"sql(
WITH own AS MATERIALIZED (
  SELECT e.seq, e.kind, e.parent_seq, e.parent_id FROM @.sessions s
    JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
    WHERE s.session_id = $1 AND s.trash_id IS NULL),
up AS MATERIALIZED (
  SELECT x.entry_id, l.depth FROM @.locate($1, ARRAY(SELECT DISTINCT parent_id FROM own WHERE parent_seq = -2)) l
    JOIN @.entries x ON x.session_id = l.session_id AND x.seq = l.seq AND x.life = l.life WHERE NOT l.own)
SELECT own.kind, own.parent_seq, up.depth
  FROM own LEFT JOIN up ON up.entry_id = own.parent_id AND own.parent_seq = -2 ORDER BY own.seq)sql"};
constexpr Statement kSharedShape{"shape_shared", R"sql(
SELECT e.session_id, e.seq, e.kind FROM @.shared_runs($1) r
  JOIN @.entries e ON e.session_id = r.session_id AND e.life = r.life
    AND e.segment = r.first_seq AND e.seq BETWEEN r.first_seq AND r.last_seq ORDER BY e.depth)sql"};
constexpr Statement kLabels{"shape_labels", R"sql(
WITH said AS MATERIALIZED (
  SELECT c.level, c.session_id, e.seq, e.kind, e.entry_id, e.parent_id, e.target_id, e.body FROM @.lineage($1) c
    JOIN @.entries e ON e.session_id = c.session_id AND e.life = c.life AND e.kind >= 12 AND e.kind IN (13, 15)),
named AS MATERIALIZED (
  SELECT x.entry_id, CASE WHEN NOT l.own THEN l.depth WHEN l.seq = 0 THEN 0 ELSE l.seq + s.shared_count END AS place
    FROM @.sessions s CROSS JOIN @.locate($1, ARRAY(SELECT DISTINCT target_id FROM said WHERE kind = 13)) l
    JOIN @.entries x ON x.session_id = l.session_id AND x.seq = l.seq AND x.life = l.life
    WHERE s.session_id = $1 AND s.trash_id IS NULL)
SELECT said.entry_id, said.parent_id, said.body, said.session_id, said.level, said.kind, said.target_id, named.place
  FROM said LEFT JOIN named ON named.entry_id = said.target_id AND said.kind = 13
  ORDER BY said.level DESC, said.seq)sql"};
constexpr Statement kLoadOwn{"own_entries", R"sql(
SELECT z.entry_id, z.parent_id, z.body, z.attachment FROM (
  SELECT o.*, sum(octet_length(o.body)) OVER (ORDER BY o.seq) - octet_length(o.body) AS before
    FROM @.sessions s CROSS JOIN LATERAL (
      SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.seq FROM @.entries e
        WHERE e.session_id = s.session_id AND e.life = s.life AND e.seq >= $2 ORDER BY e.seq LIMIT $3) o
    WHERE s.session_id = $1 AND s.trash_id IS NULL) z
  WHERE z.before < $4 ORDER BY z.seq)sql"};
constexpr Statement kExists{"exists", "SELECT 1 FROM @.sessions WHERE session_id = $1 AND trash_id IS NULL"};
constexpr Statement kFindIds{"find_ids", R"sql(
SELECT x.entry_id FROM (
  SELECT e.entry_id, e.depth AS place FROM @.shared_runs($1) r
    JOIN @.entries e ON e.session_id = r.session_id AND e.life = r.life
      AND e.segment = r.first_seq AND e.seq BETWEEN r.first_seq AND r.last_seq AND starts_with(e.entry_id, $2)
  UNION ALL
  SELECT e.entry_id, e.seq + s.shared_count FROM @.sessions s
    JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND starts_with(e.entry_id, $2)
    WHERE s.session_id = $1 AND s.trash_id IS NULL) x
  ORDER BY x.place LIMIT $3)sql"};

struct PlacedLabel {
  SessionLabel label;
  std::uint32_t sequence = kElsewhere;
};

// In each session, the last label entry of a name counts. A fork inherits the labels that earlier sessions gave to the
// shared entries, unless its own entries say otherwise.
Result<std::vector<PlacedLabel>> labelsFrom(const EntrySerializer& serializer, const Rows& rows) {
  std::set<std::pair<std::int64_t, std::string>> hidden;
  for (int row = 0; row < rows.size(); ++row) {
    if (static_cast<EntryKind>(rows.number(row, 5)) == EntryKind::Redaction) {
      hidden.emplace(rows.number(row, 4), rows.string(row, 6));
    }
  }
  std::map<std::string, PlacedLabel> byName;
  std::string line;
  for (int row = 0; row < rows.size(); ++row) {
    const std::int64_t level = rows.number(row, 4);
    if (static_cast<EntryKind>(rows.number(row, 5)) != EntryKind::Label ||
        hidden.contains({level, rows.string(row, 0)})) {
      continue;
    }
    BOUGH_TRY(const Entry entry, entryFrom(serializer, rows, row, line));
    auto name = json::findString(entry.payload, "name");
    if (!name) continue;
    std::string target = rows.string(row, 6);
    const bool known = !target.empty() && (level == 0 || !rows.isNull(row, 7));
    if (!known) {
      byName.erase(*name);
      continue;
    }
    PlacedLabel& placed = byName[*name];
    placed.label = {
        .name = *name, .entryId = std::move(target), .timestamp = entry.timestamp, .sessionId = rows.string(row, 3)};
    placed.sequence = rows.isNull(row, 7) ? kElsewhere : static_cast<std::uint32_t>(rows.number(row, 7));
  }
  std::vector<PlacedLabel> labels;
  for (auto& [name, placed] : byName) labels.push_back(std::move(placed));
  return labels;
}

}  // namespace

Result<std::vector<SessionLabel>> PostgresSession::labels() {
  const std::vector<Call> calls{database_.call(kExists, byId()), database_.call(kLabels, byId())};
  BOUGH_TRY(const auto results, database_.pool.run(calls));
  if (results[0].empty()) return std::unexpected(database_.noSession(sessionId()));
  BOUGH_TRY(auto placed, labelsFrom(database_.serializer, results[1]));
  std::vector<SessionLabel> labels;
  for (PlacedLabel& each : placed) labels.push_back(std::move(each.label));
  return labels;
}

Result<SessionShape> PostgresSession::shape() {
  const std::vector<Call> calls{{.sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
                                database_.call(kHeadPlace, byId()),
                                database_.call(kOwnShape, byId()),
                                database_.call(kSharedShape, byId()),
                                database_.call(kLabels, byId()),
                                {.sql = "COMMIT"}};
  BOUGH_TRY(const auto results, database_.pool.run(calls));
  const Rows& head = results[1];
  if (head.empty()) return std::unexpected(database_.noSession(sessionId()));
  const auto shared = static_cast<std::uint32_t>(head.number(0, 0));
  // Converts a stored sequence. For an entry in another session, the next column has its place in the shared branch.
  const auto placeOf = [&](const Rows& rows, int row, int column) {
    const std::int64_t stored = rows.number(row, column);
    if (stored == BatchPlan::kRoot) return kNoSequence;
    if (stored < 0)
      return rows.isNull(row, column + 1) ? kElsewhere : static_cast<std::uint32_t>(rows.number(row, column + 1));
    return static_cast<std::uint32_t>(stored) + (stored == 0 ? 0 : shared);
  };
  SessionShape shape;
  const Rows& own = results[2];
  const Rows& others = results[3];
  for (int row = 0; row < own.size(); ++row) {
    shape.outline.add(static_cast<EntryKind>(own.number(row, 0)), placeOf(own, row, 1));
    if (row > 0) continue;
    for (int i = 0; i < others.size(); ++i) {
      const std::uint32_t parent = i == 0 ? kNoSequence : static_cast<std::uint32_t>(i);
      shape.outline.add(static_cast<EntryKind>(others.number(i, 2)), parent);
      if (shape.shared.empty() || shape.shared.back().sessionId != others.text(i, 0)) {
        shape.shared.push_back({.sessionId = others.string(i, 0)});
      }
      shape.shared.back().sequences.push_back(static_cast<std::uint64_t>(others.number(i, 1)));
    }
  }
  shape.outline.head = placeOf(head, 0, 1);
  BOUGH_TRY(auto labels, labelsFrom(database_.serializer, results[4]));
  for (PlacedLabel& each : labels) {
    shape.labels.push_back({.name = std::move(each.label.name), .sequence = each.sequence});
  }
  return shape;
}

Result<std::vector<Entry>> PostgresSession::loadOwn(std::uint64_t fromSequence, std::size_t limit) {
  Parameters parameters = byId();
  parameters.number(bigint(fromSequence)).number(bigint(limit)).number(bigint(kOwnPartBytes));
  const std::vector<Call> calls{database_.call(kExists, byId()), database_.call(kLoadOwn, std::move(parameters))};
  BOUGH_TRY(const auto results, database_.pool.run(calls));
  if (results[0].empty()) return std::unexpected(database_.noSession(sessionId()));
  const Rows& rows = results[1];
  std::vector<Entry> entries;
  std::vector<std::pair<std::size_t, std::string>> attached;  // place and digest
  std::vector<std::string> digests;
  std::string line;
  std::size_t bytes = 0;
  for (int row = 0; row < rows.size() && bytes < kOwnPartBytes; ++row) {
    BOUGH_TRY(Entry entry, entryFrom(database_.serializer, rows, row, line));
    if (!rows.isNull(row, 3)) {
      attached.emplace_back(entries.size(), rows.string(row, 3));
      digests.push_back(rows.string(row, 3));
    }
    bytes += shownBytes(entry.payload);
    entries.push_back(std::move(entry));
  }
  if (attached.empty()) return entries;
  BOUGH_TRY(const Attached found, readAttached(database_, digests));
  for (const auto& [place, digest] : attached) {
    const auto payload = found.bytes.find(digest);
    if (payload != found.bytes.end()) entries[place].payload = payload->second;
  }
  return entries;
}

Result<std::vector<std::string>> PostgresSession::findIds(std::string_view prefix, std::size_t limit) {
  BOUGH_TRY(const Rows rows, database_.run(kFindIds, byId().text(prefix).number(bigint(limit))));
  if (rows.empty()) {
    BOUGH_TRY(state());
  }
  std::vector<std::string> found;
  for (int row = 0; row < rows.size(); ++row) found.push_back(rows.string(row, 0));
  return found;
}

}  // namespace bough::postgres
