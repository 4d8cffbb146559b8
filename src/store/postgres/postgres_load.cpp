// How a session is read: any load takes one exchange, across forks, with redactions and attachments. The statements of
// a load see the same snapshot of the database.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "base/try.h"
#include "store/postgres/attached.h"
#include "store/postgres/postgres_session.h"
#include "store/rules/attachment_reference.h"
#include "store/sharing/redactions.h"

namespace bough::postgres {
namespace {

// Each statement returns rows (entry_id, parent_id, body, attachment, place). place is the entry's sequence in the
// session's order or, on a branch, its place there, starting at 1.
//
// The rows are sorted inside the joins, run by run: the planner does not see that these joins keep the order of the
// key, and would sort whole sessions. {0} is ` DESC` to read from the end, {1} the same for runs, of which the leaf's
// run comes first. {2} selects kinds. {3} is the least wanted place of the shared entries.
//
// Entries before the wanted place are skipped without being read. Along a run, the depth grows by one per entry and the
// sequence by at least one. So an entry that is n levels deeper than the first of its run is at least n sequences after
// it.
constexpr std::string_view kOwnRows = R"sql(
SELECT o.* FROM @.sessions s CROSS JOIN LATERAL (
  SELECT e.entry_id, e.parent_id, e.body, e.attachment, CASE WHEN e.seq = 0 THEN 0 ELSE e.seq + s.shared_count END AS place
    FROM @.entries e WHERE e.session_id = s.session_id AND e.life = s.life
      AND e.seq >= CASE WHEN $2 <= 0 THEN 0 ELSE greatest($2 - s.shared_count, 1) END{2} ORDER BY e.seq{0} LIMIT $5) o
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql";
constexpr std::string_view kSharedRows = R"sql(
SELECT o.* FROM (SELECT x.*, f.depth AS first_depth FROM (
      SELECT s.session_id, {3} AS least FROM @.sessions s
        WHERE s.session_id = $1 AND s.trash_id IS NULL AND s.shared_count >= {3}) s
    CROSS JOIN LATERAL @.shared_runs_from(s.session_id, least(s.least, 2147483647)::integer)
      WITH ORDINALITY AS x(session_id, life, first_seq, last_seq, n)
    CROSS JOIN LATERAL (SELECT e.depth FROM @.entries e
      WHERE e.session_id = x.session_id AND e.seq = x.first_seq AND e.life = x.life LIMIT 1) f
    ORDER BY n{1}) r
  CROSS JOIN LATERAL (
    SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.depth AS place FROM @.entries e
      WHERE e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
        AND e.seq BETWEEN r.first_seq + greatest($2 - r.first_depth, 0) AND r.last_seq AND e.depth >= $2{2}
      ORDER BY e.seq{0}) o
  LIMIT $5)sql";
constexpr std::string_view kBranchRows = R"sql(
SELECT o.* FROM @.locate($1, ARRAY[coalesce(nullif($7, ''), (SELECT h.head_id FROM @.sessions h
      WHERE h.session_id = $1 AND h.trash_id IS NULL))]) l CROSS JOIN LATERAL (
    SELECT x.*, f.depth AS first_depth
      FROM @.runs(l.session_id, l.life, l.seq, $8) WITH ORDINALITY AS x(session_id, life, first_seq, last_seq, n)
      CROSS JOIN LATERAL (SELECT e.depth FROM @.entries e
        WHERE e.session_id = x.session_id AND e.seq = x.first_seq AND e.life = x.life LIMIT 1) f
      ORDER BY n{1}) r
  CROSS JOIN LATERAL (
    SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.depth AS place FROM @.entries e
      WHERE e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
        AND e.seq BETWEEN r.first_seq + greatest($2 - r.first_depth, 0) AND r.last_seq AND e.depth > $2 AND e.seq > 0{2}
      ORDER BY e.seq{0}) o
  LIMIT $5)sql";
// The least place of a shared entry that a load can return. Among the last $5 entries of all kinds, own entries come
// first.
constexpr std::string_view kLeast = "$2";
constexpr std::string_view kLeastOfLast =
    "CASE WHEN $3 < 0 THEN greatest($2, s.shared_count + s.entry_count - $5) ELSE $2 END";
constexpr std::string_view kOfKinds =
    " AND ($3 < 0 OR (($3 >> e.kind::integer) & 1 = 1 AND (e.kind > 0 OR e.type = ANY ($4::text[]))))";
constexpr std::string_view kWithin = R"sql(
SELECT z.* FROM (SELECT y.*, sum(octet_length(y.body)) OVER (ORDER BY y.place) - octet_length(y.body) AS before
  FROM ({}) y) z WHERE z.before < $6)sql";

enum class Source : std::uint8_t { Own, Shared, Branch };

struct LoadStatement {
  std::string name;
  std::string sql;
};

LoadStatement makeLoad(Source source, bool newest, bool hasByteLimit) {
  constexpr std::array<std::string_view, 3> kSources{kOwnRows, kSharedRows, kBranchRows};
  constexpr std::array<std::string_view, 3> kNames{"load_own", "load_shared", "load_branch"};
  std::string rows = fmt::format(fmt::runtime(kSources[static_cast<std::size_t>(source)]), newest ? " DESC" : "",
                                 newest ? "" : " DESC", kOfKinds, newest ? kLeastOfLast : kLeast);
  if (hasByteLimit) rows = fmt::format(fmt::runtime(kWithin), rows);
  return {.name = fmt::format("{}{}{}", kNames[static_cast<std::size_t>(source)], newest ? "_last" : "",
                              hasByteLimit ? "_within" : ""),
          .sql = hasByteLimit ? rows : fmt::format("SELECT x.* FROM ({}) x WHERE $6 >= 0", rows)};
}

// Returns the statement for a kind of load. All statements are made once.
Statement loadStatement(Source source, bool newest, bool hasByteLimit) {
  static const std::vector<LoadStatement> kAll = [] {
    std::vector<LoadStatement> all;
    for (const Source each : {Source::Own, Source::Shared, Source::Branch}) {
      for (const bool last : {false, true}) {
        for (const bool bounded : {false, true}) all.push_back(makeLoad(each, last, bounded));
      }
    }
    return all;
  }();
  const LoadStatement& found = kAll[static_cast<std::size_t>(source) * 4 + (newest ? 2 : 0) + (hasByteLimit ? 1 : 0)];
  return {.name = found.name, .sql = found.sql};
}

// The most frequent load: all own entries from a place on. Its rows have no place and no kind to check, which saves the
// server a tenth of its time. Without the join, a plan for such a high limit would sort the whole table.
constexpr Statement kAllRows{"load_all", R"sql(
SELECT o.* FROM @.sessions s CROSS JOIN LATERAL (
  SELECT e.entry_id, e.parent_id, e.body, e.attachment FROM @.entries e
    WHERE e.session_id = s.session_id AND e.life = s.life
      AND e.seq >= CASE WHEN $2 <= 0 THEN 0 ELSE greatest($2 - s.shared_count, 1) END ORDER BY e.seq LIMIT $3) o
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};

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
SELECT e.entry_id, e.parent_id, e.body, e.attachment,
    CASE WHEN NOT l.own THEN l.depth WHEN l.seq = 0 THEN 0 ELSE l.seq + s.shared_count END
  FROM @.locate($1, $2) l JOIN @.entries e ON e.session_id = l.session_id AND e.life = l.life AND e.seq = l.seq
    JOIN @.sessions s ON s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kBySequences{"load_sequences", R"sql(
SELECT e.entry_id, e.parent_id, e.body, e.attachment, x.place
  FROM @.sessions s CROSS JOIN unnest($2) AS x(place)
    JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life
      AND e.seq = CASE WHEN x.place = 0 THEN 0 ELSE x.place - s.shared_count END
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND (x.place = 0 OR x.place > s.shared_count)
UNION ALL
SELECT o.* FROM @.sessions s
  CROSS JOIN LATERAL @.shared_runs_from(s.session_id, (SELECT least(min(p), 2147483647) FROM unnest($2) AS u(p))::integer) r
  CROSS JOIN LATERAL (
    SELECT e.depth FROM @.entries e
      WHERE e.session_id = r.session_id AND e.seq = r.first_seq AND e.life = r.life LIMIT 1) f
  CROSS JOIN LATERAL (
    SELECT e.depth FROM @.entries e
      WHERE e.session_id = r.session_id AND e.seq = r.last_seq AND e.life = r.life LIMIT 1) l
  JOIN unnest($2) AS x(place) ON x.place BETWEEN f.depth AND l.depth
  CROSS JOIN LATERAL (
    SELECT e.entry_id, e.parent_id, e.body, e.attachment, e.depth FROM @.entries e
      WHERE e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq AND e.depth = x.place
        AND e.seq BETWEEN r.first_seq + (x.place - f.depth) AND r.last_seq - (l.depth - x.place)
      ORDER BY e.seq LIMIT 1) o
  WHERE s.session_id = $1 AND s.trash_id IS NULL AND s.shared_count >= ANY ($2))sql"};

Error noEntry(const std::string& sessionId, const std::string& entryId) {
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, entryId),
              "`bough cat` prints all entries of a session")
      .error();
}

}  // namespace

// One load: its questions to the database, and the result from the answers.
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
  // The wanted kinds as bits (-1: all), and the wanted types that are not of a known kind.
  struct WantedTypes {
    std::int64_t kinds = -1;
    std::vector<std::string> others;
  };

  static WantedTypes wantedTypes(const LoadOptions& options) {
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

  [[nodiscard]] bool countsFromEnd() const { return query_.options.last && query_.options.limit == SIZE_MAX; }

  Call load(Source source, std::uint64_t from, std::size_t limit) {
    const bool hasByteLimit = query_.options.limitBytes != SIZE_MAX && !query_.options.last;
    Parameters parameters = session_.byId();
    if (source == Source::Own && wanted_.kinds < 0 && !hasByteLimit && !countsFromEnd()) {
      beginsWithHeader_ = from == 0;
      return database_.call(kAllRows, std::move(parameters.number(bigint(from)).number(bigint(limit))));
    }
    parameters.number(bigint(from)).number(wanted_.kinds).texts(wanted_.others);
    parameters.number(bigint(countsFromEnd() ? *query_.options.last : limit)).number(bigint(query_.options.limitBytes));
    if (source == Source::Branch) {
      const bool plain = countsFromEnd() && wanted_.kinds < 0 && from == 0;
      parameters.text(*query_.options.branch).number(plain ? bigint(*query_.options.last) : INT64_MAX);
    }
    return database_.call(loadStatement(source, countsFromEnd(), hasByteLimit), std::move(parameters));
  }

  // The entries of one statement, in the order in which they arrive.
  struct Part {
    std::vector<Entry> entries;
    std::vector<std::uint64_t> sequences;                       // empty for kAllRows
    std::optional<std::size_t> header;                          // the header's place among the entries
    std::vector<std::pair<std::size_t, std::string>> attached;  // place and digest
  };

  // Runs all statements of a load in one transaction, after those for the session's row and its redactions. The first
  // `partCount` statements return entries; the rows of the others are returned.
  Result<std::vector<Rows>> ask(std::vector<Call> calls, std::size_t partCount) {
    parts_.assign(partCount, {});
    redactions_ = {};
    std::vector<RowSink> sinks;
    for (Part& part : parts_) {
      sinks.push_back({.restart = [&] { part = {}; }, .take = [&](const Rows& rows) { add(part, rows); }});
    }
    for (std::size_t i = 0; i < partCount; ++i) calls[i].sink = &sinks[i];
    const RowSink life{.restart = [&] { error_.reset(), life_.reset(); },
                       .take = [&](const Rows& rows) { readSessionRow(rows); }};
    calls.insert(calls.begin(), {{.sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
                                 database_.call(kLife, session_.byId()),
                                 database_.call(kRedactions, session_.byId())});
    calls[1].sink = &life;
    calls.push_back({.sql = "COMMIT"});
    BOUGH_TRY(auto results, database_.pool.run(calls));
    if (!life_) return std::unexpected(database_.noSession(session_.sessionId()));
    if (error_) return std::unexpected(std::move(*error_));
    std::string line;
    for (int row = 0; row < results[2].size(); ++row) {
      BOUGH_TRY(auto redaction, entryFrom(database_.serializer, results[2], row, line));
      redactions_.add(std::move(redaction));
    }
    results.erase(results.begin(), results.begin() + 3 + static_cast<std::ptrdiff_t>(partCount));
    results.pop_back();  // the result of COMMIT
    return results;
  }

  void readSessionRow(const Rows& rows) {
    life_ = static_cast<std::uint64_t>(rows.number(0, 0));
    headId_ = rows.string(0, 3);
    ownCount_ = static_cast<std::size_t>(rows.number(0, 1));
  }

  void add(Part& part, const Rows& rows) {
    for (int row = 0; row < rows.size(); ++row) add(part, rows, row);
  }

  void add(Part& part, const Rows& rows, int row) {
    if (error_) return;
    const bool placed = rows.columns() > 4;
    // Reserve room for all entries only when all are wanted; a caller that wants some gets few.
    if (part.entries.empty() && query_.options.limit == SIZE_MAX && !countsFromEnd() && &part == &parts_.back()) {
      part.entries.reserve(ownCount_);
      if (placed) part.sequences.reserve(ownCount_);
    }
    const std::size_t at = part.entries.size();
    if (auto added = addEntryFrom(database_.serializer, rows, row, line_, part.entries); !added) {
      error_ = std::move(added.error());
      return;
    }
    if (!rows.isNull(row, 3)) part.attached.emplace_back(at, rows.string(row, 3));
    const bool first = placed ? rows.number(row, 4) == 0 : at == 0 && beginsWithHeader_;
    if (first) part.header = at;
    if (placed) part.sequences.push_back(static_cast<std::uint64_t>(rows.number(row, 4)));
  }

  Result<LoadResult> runWhole(std::uint64_t from, std::size_t limit) {
    BOUGH_TRY(ask({load(Source::Shared, from, limit), load(Source::Own, from, limit)}, 2));
    BOUGH_TRY(LoadResult result, joined());
    applyLimits(result, limit);
    return result;
  }

  Result<LoadResult> runBranch() {
    Parameters leaf = session_.byId();
    leaf.text(*query_.options.branch);
    BOUGH_TRY(const auto found, ask({load(Source::Branch, query_.options.fromSequence, query_.options.limit),
                                     database_.call(kLocate, std::move(leaf))},
                                    1));
    const std::string& leafId = query_.options.branch->empty() ? headId_ : *query_.options.branch;
    if (found[0].empty() && !leafId.empty()) return std::unexpected(noEntry(session_.sessionId(), leafId));
    BOUGH_TRY(LoadResult result, joined());
    applyLimits(result, query_.options.limit);
    return result;
  }

  // If the position is from another life of the session, finds the place again by the entry's id.
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
    BOUGH_TRY(const auto found, ask(load(from), 2));
    if (*life_ != position.generation && !position.entryId.empty()) {
      if (found[0].empty()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("session {} has no entry {} to continue from", session_.sessionId(), position.entryId),
                    "start from the beginning with an empty position");
      }
      from = static_cast<std::uint64_t>(found[0].number(0, 0)) + 1;
      BOUGH_TRY(ask(load(from), 2));
    }
    LoadResult result;
    if (limit > 0) {
      BOUGH_TRY(result, joined());
      applyLimits(result, limit);
    }
    result.sequences.clear();
    result.end = {.entryId = result.entries.empty() ? position.entryId : result.entries.back().id,
                  .next = from + result.entries.size(),
                  .generation = *life_};
    return result;
  }

  Result<LoadResult> runNamed() {
    Parameters parameters = session_.byId();
    parameters.texts(query_.ids);
    BOUGH_TRY(ask({database_.call(kByIds, std::move(parameters))}, 1));
    BOUGH_TRY(LoadResult found, joined());
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
    BOUGH_TRY(ask({database_.call(kBySequences, std::move(parameters))}, 1));
    BOUGH_TRY(LoadResult found, joined());
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

  // Returns the entries of all parts in the session's order, as the caller wants to see them. Sequences are only set
  // for a single part.
  Result<LoadResult> joined() {
    BOUGH_TRY(resolvePayloads());
    LoadResult result;
    std::optional<std::size_t> header;
    for (Part& part : parts_) {
      if (countsFromEnd()) {
        std::ranges::reverse(part.entries);
        std::ranges::reverse(part.sequences);
        if (part.header) part.header = part.entries.size() - 1 - *part.header;
      }
      if (part.header) header = result.entries.size() + *part.header;
      if (result.entries.empty()) {
        result.entries = std::move(part.entries);
        result.sequences = std::move(part.sequences);
        continue;
      }
      std::ranges::move(part.entries, std::back_inserter(result.entries));
      std::ranges::move(part.sequences, std::back_inserter(result.sequences));
    }
    // The header arrives with the own entries but belongs before the shared ones. Sequences are not needed in this
    // case.
    if (parts_.size() == 2 && header) {
      const auto at = result.entries.begin() + static_cast<std::ptrdiff_t>(*header);
      std::rotate(result.entries.begin(), at, at + 1);
    }
    return result;
  }

  // Hides redacted payloads and loads attachments: a second round trip when there are any.
  Result<void> resolvePayloads() {
    if (query_.asStored) return {};
    LostPayloads& lost = session_.sessions().lostPayloads();
    for (Part& part : parts_) {
      if (!query_.options.showRedacted && !redactions_.empty()) {
        for (Entry& entry : part.entries) {
          if (redactions_.hide(entry)) lost.noteReadable(session_.sessionId(), entry.id);
        }
      }
      std::erase_if(part.attached, [&](const auto& each) { return part.entries[each.first].redacted; });
    }
    dropAttachmentsBeyondLimit();
    std::unordered_map<std::string, std::size_t> uses;
    for (const Part& part : parts_) {
      for (const auto& [place, digest] : part.attached) ++uses[digest];
    }
    if (uses.empty()) return {};
    std::vector<std::string> digests;
    for (const auto& [digest, count] : uses) digests.push_back(digest);
    BOUGH_TRY(Attached attached, readAttached(database_, digests));
    for (Part& part : parts_) {
      for (const auto& [place, digest] : part.attached) {
        const auto bytes = attached.bytes.find(digest);
        if (bytes == attached.bytes.end()) {
          lost.markLost(session_.sessionId(), part.entries[place], attached.errorFor(digest));
          continue;
        }
        lost.noteReadable(session_.sessionId(), part.entries[place].id);
        const bool last = --uses[digest] == 0;
        part.entries[place].payload = last ? std::move(bytes->second) : bytes->second;
      }
    }
    return {};
  }

  // The server counts an attachment as the size of its reference. Attachments beyond the limit are not fetched.
  void dropAttachmentsBeyondLimit() {
    if (query_.options.limitBytes == SIZE_MAX || query_.options.last) return;
    std::size_t bytes = 0;
    for (Part& part : parts_) {
      std::size_t place = 0;
      for (; place < part.entries.size() && bytes < query_.options.limitBytes; ++place) {
        bytes += shownBytes(part.entries[place].payload);
      }
      std::erase_if(part.attached, [&](const auto& each) { return each.first >= place; });
    }
  }

  void applyLimits(LoadResult& result, std::size_t limit) {
    const LoadOptions& options = query_.options;
    if (!countsFromEnd() && result.entries.size() > limit) result.entries.resize(limit);
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
  std::optional<std::uint64_t> life_;
  std::string headId_;
  std::size_t ownCount_ = 0;
  bool beginsWithHeader_ = false;  // true for the rows of kAllRows
  Redactions redactions_;
  std::vector<Part> parts_;
  std::optional<Error> error_;  // for an entry that cannot be read
  std::string line_;
};

Result<LoadResult> PostgresSession::load(const LoadQuery& query) {
  return Loading(*this, query).run();
}

}  // namespace bough::postgres
