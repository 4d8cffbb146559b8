// Full-text search. The index (GIN) finds the entries that contain the words, in any order. `folded` contains the words
// in their order, each between two blanks; it tells whether the words are in the wanted order, and how often.
// PostgreSQL's own phrase search is limited to the first 16,383 words of a text.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/postgres/catalog/postgres_catalog.h"

namespace bough::postgres {
namespace {

// Counting stops here: a word that is in more entries than this is not less significant.
constexpr int kMostCounted = 10'000;
// The mean length of texts is taken from at most this many sessions.
constexpr int kMostMeasured = 100'000;

// A term as conditions on catalog_texts as `t`.
struct TermSql {
  std::string found;
  std::string times;  // how often the term occurs
};

TermSql sqlOf(const SearchWords::Term& term, Composed& select) {
  std::string query;
  std::string phrase;
  for (const std::string& word : term.words) {
    // Words consist of letters and digits; see tokenizer.h. Other characters could end the quoted text.
    std::string quoted = word;
    std::ranges::replace_if(quoted, [](char c) { return c == '\'' || c == '\\'; }, ' ');
    query += fmt::format("{}'{}'", query.empty() ? "" : " & ", quoted);
    phrase += fmt::format(" {} ", word);
  }
  if (term.isBeginning) {
    query += ":*";
    phrase.pop_back();
  }
  const std::string there = select.text(phrase);
  TermSql sql{.found = fmt::format("t.words @@ {}::tsquery", select.text(query)),
              .times = fmt::format("((length(t.folded) - length(replace(t.folded, {0}, ''))) / length({0}))", there)};
  if (term.words.size() > 1) sql.found += fmt::format(" AND strpos(t.folded, {}) > 0", there);
  return sql;
}

// Returns the bm25 score, as in the SQLite search. Of texts with equal scores, the newest comes first.
std::string scoreOf(std::size_t place) {
  return fmt::format(
      "greatest(ln(greatest((z.n - h{0}.n + 0.5) / (h{0}.n + 0.5), 1.0)), 0.000001) * f.f{0} * 2.2 / "
      "(f.f{0} + 1.2 * (0.25 + 0.75 * f.word_count / z.mean))",
      place);
}

// Excludes texts that were redacted after the catalog read them. Only checks sessions that have changed since.
constexpr std::string_view kNotRedactedSince =
    "NOT EXISTS (SELECT 1 FROM @.sessions s JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life "
    "WHERE s.session_id = t.session_id AND s.trash_id IS NULL AND NOT s.cataloged AND e.kind >= 12 AND e.kind = 15 "
    "AND e.target_id = t.entry_id)";

}  // namespace

Result<std::vector<SearchHit>> PostgresCatalog::search(const SearchWords& words, const SearchOptions& options) {
  Composed select;
  std::vector<TermSql> terms;
  std::string condition;
  for (const auto& group : words.groups) {
    std::string either;
    for (const SearchWords::Term& term : group) {
      terms.push_back(sqlOf(term, select));
      either += fmt::format("{}({})", either.empty() ? "" : " OR ", terms.back().found);
    }
    condition += fmt::format("{}({})", condition.empty() ? "" : " AND ", either);
  }
  for (const SearchWords::Term& term : words.without) {
    condition += fmt::format(" AND NOT ({})", sqlOf(term, select).found);
  }
  std::string times;
  std::string counts;
  std::string joins;
  std::string score;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    times += fmt::format(", {} AS f{}", terms[i].times, i);
    counts += fmt::format(
        "h{} AS (SELECT count(*)::float8 AS n FROM (SELECT 1 FROM @.catalog_texts t WHERE {} LIMIT {}) x), ", i,
        terms[i].found, kMostCounted);
    joins += fmt::format(", h{}", i);
    score += (i == 0 ? "" : " + ") + scoreOf(i);
  }
  select.sql = fmt::format(
      "WITH found AS MATERIALIZED (SELECT t.session_id, t.seq, t.time_ms, t.word_count{} FROM @.catalog_texts t JOIN "
      "@.catalog_sessions c ON c.session_id = t.session_id",
      times);
  select.require(condition);
  select.require(kNotRedactedSince);
  select.require(options.filter);
  if (options.filter.sinceMs) select.require("t.time_ms >= " + select.number(*options.filter.sinceMs));
  if (options.filter.untilMs) select.require("t.time_ms < " + select.number(*options.filter.untilMs));
  if (!options.roles.empty()) {
    select.parameters.texts(std::span<const std::string>(options.roles));
    select.require(fmt::format("t.role = ANY (${})", select.parameters.size()));
  }
  const std::string limit = select.number(std::min<std::size_t>(options.limit, INT64_MAX));
  select.sql += fmt::format(
      "), {}z AS (SELECT coalesce(sum(x.text_count), 0)::float8 AS n, "
      "greatest(coalesce(sum(x.word_count), 0)::float8 / greatest(coalesce(sum(x.text_count), 0), 1), 1) AS mean "
      "FROM (SELECT text_count, word_count FROM @.catalog_sessions LIMIT {}) x), "
      "best AS (SELECT f.session_id, f.seq, {} AS score FROM found f, z{} ORDER BY score DESC, f.time_ms DESC, "
      "f.session_id DESC, f.seq DESC LIMIT {}) "
      "SELECT t.session_id, c.title, t.entry_id, t.role, t.time_ms, (b.score * 1000000)::bigint, {} FROM best b "
      "JOIN @.catalog_texts t ON t.session_id = b.session_id AND t.seq = b.seq "
      "JOIN @.catalog_sessions c ON c.session_id = b.session_id ORDER BY b.score DESC, t.time_ms DESC, "
      "b.session_id DESC, b.seq DESC",
      counts, kMostMeasured, score, joins, limit, options.excerptTokens == 0 ? "''" : "t.body");
  BOUGH_TRY(const Rows rows, ask(select.call(database_)));
  std::vector<SearchHit> hits;
  for (int row = 0; row < rows.size(); ++row) {
    hits.push_back({.sessionId = rows.string(row, 0),
                    .title = rows.string(row, 1),
                    .entryId = rows.string(row, 2),
                    .role = rows.string(row, 3),
                    .timeMs = static_cast<std::uint64_t>(rows.number(row, 4)),
                    .score = static_cast<double>(rows.number(row, 5)) / 1e6,
                    .excerpt = rows.string(row, 6)});
  }
  return hits;
}

}  // namespace bough::postgres
