// How a session is read: one exchange for a load, whatever it asks for, across forks, with redactions and attachments.
// The statements of a load see one moment of the database.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/try.h"
#include "store/postgres/postgres_session.h"
#include "store/rules/attachment_reference.h"
#include "store/sharing/redactions.h"

namespace bough::postgres {
namespace {

// Each gives rows (entry_id, parent_id, body, attachment, place), where place is the entry's sequence in the session's
// order, or on a branch its place there, from 1.
// Ordered inside, run by run: the planner does not see that these joins keep the order of the key, and would sort whole
// sessions. {0} is ` DESC` for the last entries, {1} the same for runs, of which the leaf's comes first; {2} chooses
// kinds.
constexpr std::string_view kOwn = R"sql(
SELECT o.* FROM @.sessions s CROSS JOIN LATERAL (
  SELECT e.entry_id, e.parent_id, e.body, e.attachment,
      CASE WHEN e.seq = 0 THEN 0 ELSE e.seq + s.shared_count END AS place
    FROM @.entries e WHERE e.session_id = s.session_id AND e.life = s.life
      AND e.seq >= CASE WHEN $2 <= 0 THEN 0 ELSE greatest($2 - s.shared_count, 1) END{2} ORDER BY e.seq{0} LIMIT $5) o
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql";
constexpr std::string_view kShared = R"sql(
SELECT o.* FROM (SELECT * FROM @.shared_runs($1) WITH ORDINALITY AS x(session_id, life, first_seq, last_seq, n)
    ORDER BY n{1}) r
  CROSS JOIN LATERAL (
    SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.depth AS place FROM @.entries e
      WHERE e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
        AND e.seq BETWEEN r.first_seq AND r.last_seq AND e.depth >= $2{2} ORDER BY e.seq{0}) o
  LIMIT $5)sql";
constexpr std::string_view kBranch = R"sql(
SELECT o.* FROM @.locate($1, ARRAY[coalesce(nullif($7, ''), (SELECT h.head_id FROM @.sessions h
      WHERE h.session_id = $1 AND h.trash_id IS NULL))]) l CROSS JOIN LATERAL (
    SELECT * FROM @.runs(l.session_id, l.life, l.seq, $8) WITH ORDINALITY AS x(session_id, life, first_seq, last_seq, n)
      ORDER BY n{1}) r
  CROSS JOIN LATERAL (
    SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.depth AS place FROM @.entries e
      WHERE e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
        AND e.seq BETWEEN r.first_seq AND r.last_seq AND e.depth > $2 AND e.seq > 0{2} ORDER BY e.seq{0}) o
  LIMIT $5)sql";
constexpr std::string_view kOfKinds =
    " AND ($3 < 0 OR (($3 >> e.kind::integer) & 1 = 1 AND (e.kind > 0 OR e.type = ANY ($4::text[]))))";
// The attachment itself in place of its digest.
constexpr std::string_view kWithAttachments = R"sql(
SELECT x.entry_id, x.parent_id, x.body, x.place, CASE WHEN x.attachment IS NOT NULL THEN
    (SELECT string_agg(a.bytes, '' ORDER BY a.part) FROM @.attachments a WHERE a.sha256 = x.attachment) END
  FROM ({}) x)sql";
constexpr std::string_view kWithin = R"sql(
SELECT z.* FROM (SELECT y.*, sum(octet_length(y.body)) OVER (ORDER BY y.place) - octet_length(y.body) AS before
  FROM ({}) y) z WHERE z.before < $6)sql";

enum class Source : std::uint8_t { Own, Shared, Branch };

struct LoadStatement {
  std::string name;
  std::string sql;
};

LoadStatement makeLoad(Source source, bool newest, bool within) {
  constexpr std::array<std::string_view, 3> kSources{kOwn, kShared, kBranch};
  constexpr std::array<std::string_view, 3> kNames{"load_own", "load_shared", "load_branch"};
  std::string rows = fmt::format(fmt::runtime(kSources[static_cast<std::size_t>(source)]), newest ? " DESC" : "",
                                 newest ? "" : " DESC", kOfKinds);
  if (within) rows = fmt::format(fmt::runtime(kWithin), rows);
  return {.name = fmt::format("{}{}{}", kNames[static_cast<std::size_t>(source)], newest ? "_last" : "",
                              within ? "_within" : ""),
          .sql = fmt::format(fmt::runtime(kWithAttachments), rows) + (within ? "" : " WHERE $6 >= 0")};
}

// The statements of all kinds of loads, made once.
Statement loadStatement(Source source, bool newest, bool within) {
  static const std::vector<LoadStatement> kAll = [] {
    std::vector<LoadStatement> all;
    for (const Source each : {Source::Own, Source::Shared, Source::Branch}) {
      for (const bool last : {false, true}) {
        for (const bool bounded : {false, true}) all.push_back(makeLoad(each, last, bounded));
      }
    }
    return all;
  }();
  const LoadStatement& found = kAll[static_cast<std::size_t>(source) * 4 + (newest ? 2 : 0) + (within ? 1 : 0)];
  return {.name = found.name, .sql = found.sql};
}

constexpr Statement kLife{"load_life", R"sql(
SELECT life, entry_count, shared_count, head_id FROM @.sessions WHERE session_id = $1 AND trash_id IS NULL)sql"};
constexpr Statement kRedactions{"load_redactions", R"sql(
SELECT e.entry_id, e.parent_id, e.body FROM @.lineage($1) c
  JOIN @.entries e ON e.session_id = c.session_id AND e.life = c.life AND e.kind >= 12 AND e.kind = 15
  ORDER BY c.level DESC, e.seq)sql"};
constexpr Statement kLocate{"load_locate", R"sql(
SELECT CASE WHEN NOT l.own THEN l.depth WHEN l.seq = 0 THEN 0 ELSE l.seq + s.shared_count END
  FROM @.sessions s CROSS JOIN LATERAL @.locate($1, ARRAY[coalesce(nullif($2::text, ''), s.head_id)]) l
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kByIds{"load_ids", R"sql(
SELECT e.entry_id, e.parent_id, e.body,
    CASE WHEN NOT l.own THEN l.depth WHEN l.seq = 0 THEN 0 ELSE l.seq + s.shared_count END,
    CASE WHEN e.attachment IS NOT NULL THEN
      (SELECT string_agg(a.bytes, '' ORDER BY a.part) FROM @.attachments a WHERE a.sha256 = e.attachment) END
  FROM @.locate($1, $2) l JOIN @.entries e ON e.session_id = l.session_id AND e.life = l.life AND e.seq = l.seq
    JOIN @.sessions s ON s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kBySequences{"load_sequences", R"sql(
SELECT e.entry_id, e.parent_id, e.body, x.place,
    CASE WHEN e.attachment IS NOT NULL THEN
      (SELECT string_agg(a.bytes, '' ORDER BY a.part) FROM @.attachments a WHERE a.sha256 = e.attachment) END
  FROM @.sessions s CROSS JOIN unnest($2) AS x(place)
    JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
      AND e.seq = CASE WHEN x.place = 0 THEN 0 ELSE x.place - s.shared_count END
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND (x.place = 0 OR x.place > s.shared_count)
UNION ALL
SELECT e.entry_id, e.parent_id, e.body, e.depth,
    CASE WHEN e.attachment IS NOT NULL THEN
      (SELECT string_agg(a.bytes, '' ORDER BY a.part) FROM @.attachments a WHERE a.sha256 = e.attachment) END
  FROM @.shared_runs($1) r JOIN @.entries e ON e.session_id = r.session_id AND e.life = r.life
    AND e.segment = r.first_seq AND e.seq BETWEEN r.first_seq AND r.last_seq
  WHERE e.depth = ANY ($2))sql"};

std::int64_t bounded(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

// The kinds that a load wants, as bits, and the types that are not of a known kind; -1: all.
struct WantedTypes {
  std::int64_t kinds = -1;
  std::vector<std::string> others;
};

WantedTypes wantedTypes(const LoadOptions& options) {
  WantedTypes wanted;
  std::vector<std::string> types = options.types;
  if (!options.type.empty()) {
    const bool both = types.empty() || std::ranges::find(types, options.type) != types.end();
    types.assign(both ? 1 : 0, options.type);
  } else if (types.empty()) {
    return wanted;
  }
  wanted.kinds = 0;
  for (std::string& type : types) {
    const EntryKind kind = entryKind(type);
    wanted.kinds |= std::int64_t{1} << static_cast<int>(kind);
    if (kind == EntryKind::Other) wanted.others.push_back(std::move(type));
  }
  return wanted;
}

Error noEntry(const std::string& sessionId, const std::string& entryId) {
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, entryId),
              "`bough cat` prints all entries of a session")
      .error();
}

}  // namespace

// One load: what it asks the database, and what it makes of the answers.
class PostgresSession::Loading {
 public:
  Loading(PostgresSession& session, const LoadQuery& query)
      : session_(session), database_(session.database_), query_(query), wanted_(wantedTypes(query.options)) {}

  Result<LoadResult> run() {
    if (query_.after) return runAfter();
    if (!query_.ids.empty()) return runNamed();
    if (!query_.sequences.empty()) return runAt();
    return query_.options.branch ? runBranch() : runWhole(query_.options.fromSequence, query_.options.limit);
  }

 private:
  [[nodiscard]] bool fromEnd() const { return query_.options.last && query_.options.limit == SIZE_MAX; }

  Call load(Source source, std::uint64_t from, std::size_t limit) {
    const bool within = query_.options.limitBytes != SIZE_MAX && !query_.options.last;
    Parameters parameters = session_.byId();
    parameters.number(bounded(from)).number(wanted_.kinds).texts(wanted_.others);
    parameters.number(bounded(fromEnd() ? *query_.options.last : limit)).number(bounded(query_.options.limitBytes));
    if (source == Source::Branch) {
      const bool plain = fromEnd() && wanted_.kinds < 0 && from == 0;
      parameters.text(*query_.options.branch).number(plain ? bounded(*query_.options.last) : INT64_MAX);
    }
    return database_.call(loadStatement(source, fromEnd(), within), std::move(parameters));
  }

  // All statements of a load in one transaction, between the session's row and its redactions.
  Result<std::vector<Rows>> ask(std::vector<Call> calls) {
    calls.insert(calls.begin(), {{.sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
                                 database_.call(kLife, session_.byId()),
                                 database_.call(kRedactions, session_.byId())});
    calls.push_back({.sql = "COMMIT"});
    BOUGH_TRY(auto results, database_.pool.run(calls));
    if (results[1].empty()) return std::unexpected(database_.noSession(session_.sessionId()));
    life_ = static_cast<std::uint64_t>(results[1].number(0, 0));
    headId_ = results[1].string(0, 3);
    std::string line;
    for (int row = 0; row < results[2].size(); ++row) {
      BOUGH_TRY(auto redaction, entryFrom(database_.serializer, results[2], row, line));
      redactions_.add(std::move(redaction));
    }
    results.erase(results.begin(), results.begin() + 3);
    results.pop_back();  // of COMMIT
    return results;
  }

  Result<LoadResult> runWhole(std::uint64_t from, std::size_t limit) {
    BOUGH_TRY(const auto parts, ask({load(Source::Shared, from, limit), load(Source::Own, from, limit)}));
    LoadResult result;
    BOUGH_TRY(take(parts, result));
    cut(result, limit);
    return result;
  }

  Result<LoadResult> runBranch() {
    Parameters leaf = session_.byId();
    leaf.text(*query_.options.branch);
    BOUGH_TRY(const auto parts, ask({load(Source::Branch, query_.options.fromSequence, query_.options.limit),
                                     database_.call(kLocate, std::move(leaf))}));
    const std::string& leafId = query_.options.branch->empty() ? headId_ : *query_.options.branch;
    if (parts[1].empty() && !leafId.empty()) return std::unexpected(noEntry(session_.sessionId(), leafId));
    LoadResult result;
    BOUGH_TRY(take({parts[0]}, result));
    cut(result, query_.options.limit);
    return result;
  }

  // A place of another life of the session is found again by the entry's id.
  Result<LoadResult> runAfter() {
    const SessionPosition& position = *query_.after;
    const std::size_t limit = query_.options.limit;
    Parameters last = session_.byId();
    last.text(position.entryId);
    const auto load = [&](std::uint64_t from) {
      return std::vector<Call>{this->load(Source::Shared, from, limit), this->load(Source::Own, from, limit),
                               database_.call(kLocate, last)};
    };
    std::uint64_t from = position.entryId.empty() ? 0 : position.next;
    BOUGH_TRY(auto parts, ask(load(from)));
    if (life_ != position.generation && !position.entryId.empty()) {
      if (parts[2].empty()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("session {} has no entry {} to continue from", session_.sessionId(), position.entryId),
                    "start from the beginning with an empty position");
      }
      from = static_cast<std::uint64_t>(parts[2].number(0, 0)) + 1;
      redactions_ = {};
      BOUGH_TRY(parts, ask(load(from)));
    }
    parts.pop_back();
    LoadResult result;
    if (limit > 0) {
      BOUGH_TRY(take(parts, result));
      cut(result, limit);
    }
    result.sequences.clear();
    result.end = {.entryId = result.entries.empty() ? position.entryId : result.entries.back().id,
                  .next = from + result.entries.size(),
                  .generation = life_};
    return result;
  }

  Result<LoadResult> runNamed() {
    Parameters parameters = session_.byId();
    parameters.texts(query_.ids);
    BOUGH_TRY(const auto parts, ask({database_.call(kByIds, std::move(parameters))}));
    LoadResult found;
    BOUGH_TRY(take(parts, found));
    std::unordered_map<std::string_view, std::size_t> byId;
    for (std::size_t i = 0; i < found.entries.size(); ++i) byId[found.entries[i].id] = i;
    LoadResult result;
    for (const std::string& id : query_.ids) {
      const auto place = byId.find(id);
      if (place == byId.end()) continue;
      result.entries.push_back(found.entries[place->second]);
      result.sequences.push_back(found.sequences[place->second]);
    }
    return result;
  }

  Result<LoadResult> runAt() {
    const std::vector<std::int64_t> places(query_.sequences.begin(), query_.sequences.end());
    Parameters parameters = session_.byId();
    parameters.numbers(places);
    BOUGH_TRY(const auto parts, ask({database_.call(kBySequences, std::move(parameters))}));
    LoadResult found;
    BOUGH_TRY(take(parts, found));
    std::unordered_map<std::uint64_t, std::size_t> byPlace;
    for (std::size_t i = 0; i < found.sequences.size(); ++i) byPlace[found.sequences[i]] = i;
    LoadResult result;
    for (const std::uint64_t sequence : query_.sequences) {
      const auto place = byPlace.find(sequence);
      if (place == byPlace.end()) {
        return fail(ErrorCode::NotFound, fmt::format("session {} has no sequence {}", session_.sessionId(), sequence),
                    "load the session's tree again");
      }
      result.entries.push_back(found.entries[place->second]);
    }
    return result;
  }

  // Adds the entries of all parts, in the session's order.
  Result<void> take(const std::vector<Rows>& parts, LoadResult& result) {
    std::size_t count = 0;
    for (const Rows& rows : parts) count += static_cast<std::size_t>(rows.size());
    result.entries.reserve(count);
    result.sequences.reserve(count);
    for (const Rows& rows : parts) {
      for (int i = 0; i < rows.size(); ++i) {
        BOUGH_TRY(auto entry, entryAt(rows, fromEnd() ? rows.size() - 1 - i : i));
        result.entries.push_back(std::move(entry));
        result.sequences.push_back(static_cast<std::uint64_t>(rows.number(fromEnd() ? rows.size() - 1 - i : i, 3)));
      }
    }
    // The header comes with the own entries and belongs before the shared ones.
    const auto header = std::ranges::find(result.sequences, 0U);
    if (query_.ids.empty() && parts.size() == 2 && header != result.sequences.end()) {
      const auto at = header - result.sequences.begin();
      std::rotate(result.entries.begin(), result.entries.begin() + at, result.entries.begin() + at + 1);
      std::rotate(result.sequences.begin(), header, header + 1);
    }
    return {};
  }

  Result<Entry> entryAt(const Rows& rows, int row) {
    BOUGH_TRY(Entry entry, entryFrom(database_.serializer, rows, row, line_));
    if (query_.asStored) return entry;
    if (!query_.options.showRedacted && redactions_.hide(entry)) return entry;
    if (!rows.isNull(row, 4)) {
      entry.payload = rows.text(row, 4);
    } else if (const auto missing = readAttachmentReference(entry.payload)) {
      return fail(ErrorCode::NotFound, fmt::format("entry {} of session {}: attachment {} is missing", entry.id,
                                                   session_.sessionId(), *missing));
    }
    return entry;
  }

  void cut(LoadResult& result, std::size_t limit) {
    const LoadOptions& options = query_.options;
    if (!fromEnd() && result.entries.size() > limit) result.entries.resize(limit);
    if (options.last && result.entries.size() > *options.last) {
      result.entries.erase(result.entries.begin(), result.entries.end() - static_cast<std::ptrdiff_t>(*options.last));
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < result.entries.size() && !query_.asStored;
         bytes += result.entries[i++].payload.size()) {
      if (bytes < options.limitBytes) continue;
      result.entries.resize(i);
      break;
    }
    result.sequences.clear();
  }

  PostgresSession& session_;
  Database& database_;
  const LoadQuery& query_;
  const WantedTypes wanted_;
  std::uint64_t life_ = 0;
  std::string headId_;
  Redactions redactions_;
  std::string line_;
};

Result<LoadResult> PostgresSession::load(const LoadQuery& query) {
  return Loading(*this, query).run();
}

}  // namespace bough::postgres
