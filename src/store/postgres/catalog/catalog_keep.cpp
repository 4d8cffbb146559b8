// How the catalog's tables are brought up to date with the sessions.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/model/usage_counts.h"
#include "base/try.h"
#include "store/postgres/catalog/postgres_catalog.h"

namespace bough::postgres {
namespace {

// `weight` adds up the size of what is new, session by session. As long as it is small, the header and the entries from
// `first` on are returned as well.
constexpr Statement kOutdated{"catalog_outdated", R"sql(
WITH ids AS MATERIALIZED (
  SELECT s.session_id FROM @.sessions s WHERE NOT s.cataloged AND s.trash_id IS NULL AND s.session_id > $1
  UNION SELECT c.session_id FROM @.catalog_sessions c WHERE c.indexed < c.taken AND c.session_id > $1 AND $3),
found AS MATERIALIZED (
  SELECT s.session_id, s.life, s.version, s.entry_count, s.tail_id, s.head_id, s.origin_session, s.origin_entry, s.format,
      s.bytes, CASE WHEN c.taken IS NULL THEN 0 WHEN $3 THEN least(c.indexed, c.taken) ELSE c.taken END AS first,
      sum(CASE WHEN coalesce(c.taken, 0) = 0 OR ($3 AND c.indexed < c.taken) THEN s.bytes ELSE greatest(s.bytes - c.bytes, 0) END)
        OVER (ORDER BY s.session_id) AS weight
    FROM (SELECT session_id FROM ids ORDER BY session_id LIMIT $2) i
    JOIN @.sessions s ON s.session_id = i.session_id AND s.trash_id IS NULL
    LEFT JOIN @.catalog_sessions c ON c.session_id = s.session_id AND c.life = s.life)
SELECT f.session_id, f.life, f.version, (SELECT count(*) FROM ids), c.indexed, c.tips, c.rest,
    c.session_id, c.key, c.agent, c.written_by, c.cwd, c.title, c.origin_session, c.origin_entry, c.head_id, c.problem,
    c.title_source, c.created_ms, c.active_ms, c.duration_ms, c.user_messages, c.assistant_messages,
    c.tool_messages, c.system_messages, c.tool_calls, c.tool_failures, c.input_tokens, c.output_tokens,
    c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.cache_write_hour_tokens, c.entries, c.bytes, c.branches,
    c.condition, c.pinned, c.time_to_live_ms, c.taken,
    f.session_id, f.entry_count, f.tail_id, f.head_id, f.origin_session, f.origin_entry, f.format, f.bytes, f.first,
    has_table_privilege('@.catalog_sessions', 'INSERT') AND current_setting('transaction_read_only') = 'off', h.entry_id, h.parent_id, h.body, g.ids, g.parents, g.bodies
  FROM found f LEFT JOIN @.catalog_sessions c ON c.session_id = f.session_id AND c.life = f.life
  LEFT JOIN @.entries h ON h.session_id = f.session_id AND h.life = f.life AND h.seq = 0 AND f.weight <= $4
  LEFT JOIN LATERAL (
    SELECT array_agg(e.entry_id ORDER BY e.seq) AS ids, array_agg(e.parent_id ORDER BY e.seq) AS parents,
        array_agg(e.body ORDER BY e.seq) AS bodies, bool_or(e.attachment IS NOT NULL) AS attached FROM @.entries e
      WHERE e.session_id = f.session_id AND e.life = f.life AND e.seq >= f.first AND f.weight <= $4) g ON NOT g.attached
  ORDER BY f.session_id)sql"};
constexpr int kFirstSummaryColumn = 7;
constexpr int kFirstStateColumn = kFirstSummaryColumn + kSummaryColumns;
constexpr int kCanWriteColumn = kFirstStateColumn + 9;
// Limits for what is returned as well, and for what waits for the next query.
constexpr std::size_t kLittleBytes = 1'000'000;
constexpr std::size_t kFewSessions = 50;
// Returns false when nobody has stored as much as this.
constexpr Statement kKeep{"catalog_keep", R"sql(
SELECT CASE WHEN @.catalog_keep($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                                $21, $22, $23, $24, $25) THEN true
  ELSE EXISTS (SELECT 1 FROM @.catalog_sessions c WHERE c.session_id = $1 AND c.life = $2
                 AND c.taken >= ($7::bigint[])[1] AND c.indexed >= ($7::bigint[])[2]) END)sql"};
constexpr Statement kForgetSession{"catalog_forget", "DELETE FROM @.catalog_sessions WHERE session_id = $1"};
constexpr Statement kForgetAnswers{"catalog_forget_answers", "DELETE FROM @.catalog_answers WHERE session_id = $1"};
constexpr Statement kForgetTexts{"catalog_forget_texts", "DELETE FROM @.catalog_texts WHERE session_id = $1"};
// A row that has to be read again stays until that is done, with `taken` 0, because others list, search and find keys
// meanwhile. Only erased data is removed at once: texts, answers, and a title that came from an erased entry. The third
// text in `rest` names the title's entry.
constexpr Statement kForgetErasedRow{"catalog_forget_erased", R"sql(
WITH RECURSIVE parts AS (
  SELECT 0 AS place, NULL::bytea AS part, c.rest FROM @.catalog_sessions c WHERE c.session_id = $1
  UNION ALL
  SELECT p.place + 1, substring(p.rest FROM a.at + 1 FOR b.size), substring(p.rest FROM a.at + b.size + 1) FROM parts p
    CROSS JOIN LATERAL (SELECT position(convert_to(':', 'UTF8') IN p.rest) AS at) a
    CROSS JOIN LATERAL (SELECT nullif(convert_from(substring(p.rest FROM 1 FOR greatest(a.at - 1, 0)), 'UTF8'), '')::integer
      AS size) b
    WHERE p.place < 3 AND b.size IS NOT NULL),
stays AS (
  SELECT 1 FROM parts p WHERE p.place = 3
    AND p.part NOT IN (SELECT convert_to(w.id, 'UTF8') FROM unnest($2::text[]) AS w(id)))
UPDATE @.catalog_sessions SET taken = 0, rest = '', problem = '',
    title = CASE WHEN EXISTS (SELECT 1 FROM stays) THEN title ELSE '' END,
    title_source = CASE WHEN EXISTS (SELECT 1 FROM stays) THEN title_source ELSE 0 END
  WHERE session_id = $1)sql"};
constexpr Statement kForgetErasedAnswers{"catalog_forget_erased_answers", R"sql(
DELETE FROM @.catalog_answers a WHERE a.session_id = $1 AND a.first IN
  (SELECT e.seq FROM @.entries e WHERE e.session_id = $1 AND e.entry_id = ANY ($2)))sql"};
constexpr Statement kForgetErasedTexts{"catalog_forget_erased_texts",
                                       "DELETE FROM @.catalog_texts WHERE session_id = $1 AND entry_id = ANY ($2)"};
constexpr Statement kNotCataloged{"catalog_not",
                                  "UPDATE @.sessions SET cataloged = false WHERE session_id = $1 AND cataloged"};
// A rebuild proceeds page by page in the order of ids. An append to a session of the current page waits until the page
// is done.
constexpr Statement kLastOfPage{"catalog_page", R"sql(
SELECT max(p.session_id) FROM (SELECT s.session_id FROM @.sessions s WHERE s.session_id > $1 AND s.trash_id IS NULL
                                 ORDER BY s.session_id LIMIT 1000) p)sql"};
// Locks the sessions of a page: otherwise others could store data meanwhile that would then be marked to be read again.
constexpr Statement kHoldPage{"catalog_hold", R"sql(
SELECT count(*) FROM (SELECT 1 FROM @.sessions s WHERE s.session_id > $1 AND s.session_id <= $2 AND s.trash_id IS NULL
                        ORDER BY s.session_id FOR NO KEY UPDATE) p)sql"};
constexpr Statement kNothingCataloged{"catalog_nothing", R"sql(
UPDATE @.sessions SET cataloged = false WHERE session_id > $1 AND session_id <= $2 AND trash_id IS NULL AND cataloged)sql"};
constexpr Statement kNothingTaken{"catalog_nothing_taken", R"sql(
UPDATE @.catalog_sessions c SET taken = 0 FROM @.sessions s WHERE c.session_id > $1 AND c.session_id <= $2 AND c.taken > 0
  AND s.session_id = c.session_id AND s.trash_id IS NULL AND NOT s.cataloged)sql"};
constexpr Statement kForgetGoneSessions{"catalog_forget_gone", R"sql(
DELETE FROM @.catalog_sessions c WHERE NOT EXISTS
  (SELECT 1 FROM @.sessions s WHERE s.session_id = c.session_id AND s.trash_id IS NULL))sql"};
constexpr Statement kForgetGoneAnswers{"catalog_forget_gone_answers", R"sql(
DELETE FROM @.catalog_answers c WHERE NOT EXISTS
  (SELECT 1 FROM @.catalog_sessions s WHERE s.session_id = c.session_id))sql"};
constexpr Statement kForgetGoneTexts{"catalog_forget_gone_texts", R"sql(
DELETE FROM @.catalog_texts c WHERE NOT EXISTS
  (SELECT 1 FROM @.catalog_sessions s WHERE s.session_id = c.session_id))sql"};

// The limit for the different words of one text: the server's index accepts 1 MB of them.
constexpr std::size_t kMostWordBytes = 1'000'000;

// After this many refused queries for a session, the catalog may be unable to read the session again.
constexpr int kMostRefusals = 3;

struct Stamp {
  std::int64_t life = 0;
  std::int64_t version = 0;
};

// Parses a stamp of PostgresBackend::stamp. An empty stamp gets version -1, which no session has.
Stamp parseStamp(std::string_view text) {
  Stamp stamp;
  const char* const end = text.data() + text.size();
  const auto life = std::from_chars(text.data(), end, stamp.life);
  if (life.ptr == end || std::from_chars(life.ptr + 1, end, stamp.version).ec != std::errc()) stamp.version = -1;
  return stamp;
}

// The texts of a session, as arrays.
struct TextArrays {
  std::vector<std::int64_t> sequences, times, counts;
  std::vector<std::string> ids, roles, words, folded;
  std::vector<std::string_view> bodies;

  void add(const SearchText& text) {
    std::unordered_set<std::string_view> different;
    std::string& all = words.emplace_back();
    std::string& inOrder = folded.emplace_back();
    for (const std::string& word : text.words) {
      inOrder += fmt::format(" {} ", word);
      if (all.size() + word.size() > kMostWordBytes || !different.insert(word).second) continue;
      if (!all.empty()) all += ' ';
      all += word;
    }
    sequences.push_back(static_cast<std::int64_t>(text.sequence));
    times.push_back(bigint(text.timeMs));
    counts.push_back(static_cast<std::int64_t>(text.words.size()));
    ids.push_back(text.entryId);
    roles.push_back(text.role);
    bodies.emplace_back(text.text);
  }
};

// The answers of a session, as arrays.
struct AnswerArrays {
  std::vector<std::int64_t> ids, firsts, branches, quarters, certain, tokens;
  std::vector<std::string> models;

  void add(const CatalogedAnswer& answer) {
    ids.push_back(answer.id);
    firsts.push_back(bigint(answer.first));
    branches.push_back(answer.branch);
    quarters.push_back(bigint(answer.quarter));
    certain.push_back(answer.certain ? 1 : 0);
    models.push_back(answer.model);
    for (const auto count : kUsageCounts) tokens.push_back(bigint(answer.tokens.*count));
  }
};

Call keepCall(Database& database, const CatalogChange& change) {
  const Stamp stamp = parseStamp(change.before.stamp);
  const bool sure = change.after.stamp == change.before.stamp;
  AnswerArrays answers;
  for (const CatalogedAnswer& answer : change.answers) answers.add(answer);
  TextArrays texts;
  for (const SearchText& text : change.texts) texts.add(text);
  Parameters parameters;
  parameters.text(change.after.summary.sessionId).number(stamp.life).number(sure ? stamp.version : -1);
  parameters.number(bigint(change.before.taken)).number(bigint(change.before.indexed));
  parameters.texts(summaryTexts(change.after.summary)).numbers(summaryNumbers(change.after));
  parameters.texts(change.after.tips).bytes(change.after.rest);
  parameters.numbers(answers.ids).numbers(answers.firsts).numbers(answers.branches).numbers(answers.quarters);
  parameters.texts(answers.models).numbers(answers.certain).numbers(answers.tokens);
  parameters.numbers(texts.sequences).texts(texts.ids).texts(texts.roles).numbers(texts.times).numbers(texts.counts);
  parameters.texts(texts.words).texts(texts.folded).byteTexts(texts.bodies).texts(change.redacted);
  return database.call(kKeep, std::move(parameters));
}

// Returns std::nullopt when the growth was not returned with the row.
Result<std::optional<SessionGrowth>> growthFrom(const EntrySerializer& serializer, const Rows& rows, int row) {
  constexpr int kHeader = kCanWriteColumn + 1;
  constexpr int kIds = kHeader + 3;
  if (rows.isNull(row, kHeader) || rows.isNull(row, kIds)) return std::nullopt;
  const auto number = [&](int column) { return static_cast<std::uint64_t>(rows.number(row, column)); };
  SessionGrowth growth{.state = {.sessionId = rows.string(row, kFirstStateColumn),
                                 .entryCount = number(kFirstStateColumn + 1),
                                 .tailId = rows.string(row, kFirstStateColumn + 2),
                                 .headId = rows.string(row, kFirstStateColumn + 3),
                                 .format = static_cast<int>(number(kFirstStateColumn + 6)),
                                 .bytes = number(kFirstStateColumn + 7)},
                       .first = number(kFirstStateColumn + 8)};
  if (!rows.isNull(row, kFirstStateColumn + 4)) {
    growth.state.origin = {.sessionId = rows.string(row, kFirstStateColumn + 4),
                           .entryId = rows.string(row, kFirstStateColumn + 5)};
  }
  std::string line;
  lineOf(rows.text(row, kHeader), rows.text(row, kHeader + 1), rows.text(row, kHeader + 2), line);
  BOUGH_TRY(growth.header, serializer.decode(line));
  const std::vector<std::string> ids = rows.texts(row, kIds);
  const std::vector<std::string> parents = rows.texts(row, kIds + 1);
  const std::vector<std::string> bodies = rows.texts(row, kIds + 2);
  if (parents.size() != ids.size() || bodies.size() != ids.size()) return std::nullopt;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    lineOf(ids[i], parents[i], bodies[i], line);
    BOUGH_TRY(auto entry, serializer.decode(line));
    growth.entries.push_back(std::move(entry));
  }
  return growth;
}

}  // namespace

PostgresCatalog::~PostgresCatalog() {
  if (!waiting_.empty() && !database_.pool.belongsToParent()) (void)database_.pool.run(waiting_);
}

Result<std::vector<Rows>> PostgresCatalog::runAfterWaiting(std::vector<Call> calls) {
  std::vector<Call> all = std::exchange(waiting_, {});
  const std::vector<std::string> sessions = std::exchange(waitingFor_, {});
  std::ranges::move(calls, std::back_inserter(all));
  BOUGH_TRY(auto rows, database_.pool.run(all));
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (!rows[i].truth(0, 0)) rejectedSessions_.try_emplace(sessions[i]);
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(sessions.size()));
  return rows;
}

Result<void> PostgresCatalog::checkNoneRejected() {
  for (auto& [id, refusals] : rejectedSessions_) ++refusals;
  std::erase_if(rejectedSessions_, [](const auto& session) { return session.second > kMostRefusals; });
  if (rejectedSessions_.empty()) return {};
  return fail(ErrorCode::Conflict, fmt::format("{}: others were first to change the catalog", database_.shown()));
}

Result<void> PostgresCatalog::notInChild() const {
  if (forks_ == forkCount()) return {};
  return fail(ErrorCode::Unsupported, "this store belongs to the parent process, which opened it before fork",
              "open another store in the child process");
}

Result<std::vector<Rows>> PostgresCatalog::ask(std::vector<Call> calls) {
  BOUGH_TRY(notInChild());
  std::unique_lock lock(mutex_);
  BOUGH_TRY(checkNoneRejected());
  if (waiting_.empty()) {
    lock.unlock();
    return database_.pool.run(calls);
  }
  BOUGH_TRY(auto rows, runAfterWaiting(std::move(calls)));
  BOUGH_TRY(checkNoneRejected());
  return rows;
}

Result<Rows> PostgresCatalog::ask(Call call) {
  BOUGH_TRY(auto rows, ask(std::vector<Call>{std::move(call)}));
  return std::move(rows.front());
}

Result<CatalogSource::Outdated> PostgresCatalog::outdated(bool search, const std::string& after, std::size_t limit) {
  BOUGH_TRY(notInChild());
  Parameters parameters;
  parameters.text(after).number(bigint(limit)).truth(search).number(kLittleBytes);
  std::unique_lock lock(mutex_);
  const bool waited = !waiting_.empty();
  if (!waited) lock.unlock();
  std::vector<Call> calls{database_.call(kOutdated, std::move(parameters))};
  BOUGH_TRY(auto answers, waited ? runAfterWaiting(std::move(calls)) : database_.pool.run(calls));
  if (!waited) lock.lock();
  const Rows& rows = answers.front();
  Outdated found;
  for (int row = 0; row < rows.size(); ++row) {
    CatalogedSession& session = found.sessions.emplace_back();
    found.total = static_cast<std::uint64_t>(rows.number(row, 3));
    session.summary = summaryFrom(rows, row, kFirstSummaryColumn);
    session.summary.sessionId = rows.string(row, 0);
    session.stamp = fmt::format("{} {}", rows.number(row, 1), rows.number(row, 2));
    session.taken = static_cast<std::uint64_t>(rows.number(row, kFirstSummaryColumn + kSummaryColumns - 1));
    session.indexed = static_cast<std::uint64_t>(rows.number(row, 4));
    if (!rows.isNull(row, 5)) session.tips = rows.texts(row, 5);
    session.rest = rows.string(row, 6);
    // The catalog itself reports what cannot be read.
    if (auto growth = growthFrom(database_.serializer, rows, row)) session.growth = std::move(*growth);
  }
  if (!rows.empty()) canWrite_ = rows.truth(0, kCanWriteColumn);
  // A session in the range that was looked at and that is not outdated was stored by somebody.
  std::set<std::string_view> named;
  for (const CatalogedSession& session : found.sessions) named.insert(session.summary.sessionId);
  const bool isLastPage = found.total <= found.sessions.size();
  std::erase_if(rejectedSessions_, [&](const auto& session) {
    const std::string& id = session.first;
    return id > after && (isLastPage || id < *named.rbegin()) && !named.contains(id);
  });
  return found;
}

Result<void> PostgresCatalog::keep(const std::vector<CatalogChange>& changes) {
  BOUGH_TRY(notInChild());
  const std::lock_guard lock(mutex_);
  if (!canWrite_) {
    return fail(ErrorCode::ReadOnly,
                fmt::format("{}: this role or this server cannot bring the catalog up to date", database_.shown()),
                "list the sessions once with a role that may write, on a server that takes writes");
  }
  std::size_t bytes = 0;
  for (const CatalogChange& change : changes) {
    waiting_.push_back(keepCall(database_, change));
    waitingFor_.push_back(change.after.summary.sessionId);
    rejectedSessions_.erase(waitingFor_.back());
  }
  for (const Call& call : waiting_) bytes += call.parameters.totalBytes();
  // Words are sent at once: if they waited, the next query could find what is redacted before it.
  const bool anyText = std::ranges::any_of(changes, [](const CatalogChange& change) { return !change.texts.empty(); });
  if (!anyText && bytes <= 2 * kLittleBytes && waiting_.size() <= kFewSessions) return {};
  BOUGH_TRY(runAfterWaiting({}));
  return checkNoneRejected();
}

Result<void> PostgresCatalog::forgetAll() {
  BOUGH_TRY(notInChild());
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  waitingFor_.clear();
  rejectedSessions_.clear();
  // Each statement runs alone, because it scans the whole catalog. They run first: if this is interrupted, no data of
  // an existing session is lost, and whatever others store at the same time is read again later.
  for (const Statement* statement : {&kForgetGoneSessions, &kForgetGoneAnswers, &kForgetGoneTexts}) {
    BOUGH_TRY(database_.run(*statement, {}));
  }
  std::string after;
  for (;;) {
    Parameters parameters;
    parameters.text(after);
    BOUGH_TRY(const Rows last, database_.run(kLastOfPage, std::move(parameters)));
    if (last.isNull(0, 0)) return {};
    BOUGH_TRY(forgetPage(after, last.string(0, 0)));
    after = last.string(0, 0);
  }
}

Result<void> PostgresCatalog::forgetPage(const std::string& after, const std::string& last) {
  std::vector<Call> calls;
  for (const Statement* statement : {&kHoldPage, &kNothingCataloged, &kNothingTaken}) {
    Parameters parameters;
    parameters.text(after).text(last);
    calls.push_back(database_.call(*statement, std::move(parameters)));
  }
  BOUGH_TRY(database_.pool.run(calls));
  return {};
}

std::vector<Call> forgetCataloged(Database& database, const std::string& sessionId) {
  std::vector<Call> calls;
  for (const Statement* statement : {&kForgetSession, &kForgetAnswers, &kForgetTexts}) {
    Parameters parameters;
    parameters.text(sessionId);
    calls.push_back(database.call(*statement, std::move(parameters)));
  }
  return calls;
}

std::vector<Call> forgetErased(Database& database, const std::string& sessionId, const std::vector<std::string>& ids) {
  std::vector<Call> calls;
  for (const Statement* statement : {&kForgetErasedRow, &kForgetErasedAnswers, &kForgetErasedTexts}) {
    Parameters parameters;
    parameters.text(sessionId).texts(ids);
    calls.push_back(database.call(*statement, std::move(parameters)));
  }
  Parameters parameters;
  parameters.text(sessionId);
  calls.push_back(database.call(kNotCataloged, std::move(parameters)));
  return calls;
}

}  // namespace bough::postgres
