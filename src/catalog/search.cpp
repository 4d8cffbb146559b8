// How Catalog searches.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/database/entry_facts.h"
#include "catalog/search/search_index.h"
#include "catalog/search/search_query.h"

namespace bough {

using catalog::Conditions;
using catalog::Query;

namespace {

Result<Conditions> conditionsOf(const std::string& match, const SearchOptions& options) {
  Conditions conditions;
  conditions.add("search MATCH ?", {match});
  catalog::addFilter(conditions, options.filter);
  if (options.filter.sinceMs) conditions.add("entry.timeMs >= ?", {*options.filter.sinceMs});
  if (options.filter.untilMs) conditions.add("entry.timeMs < ?", {*options.filter.untilMs});
  std::string roles;
  for (const std::string& name : options.roles) {
    const auto role = catalog::parseRole(name);
    if (!role) {
      return fail(ErrorCode::InvalidArgument, fmt::format("there is no role {}", name),
                  "one of user, assistant, tool, system, summary");
    }
    roles += fmt::format("{}{}", roles.empty() ? "" : ", ", static_cast<int>(*role));
  }
  if (!roles.empty()) conditions.add(fmt::format("entry.role IN ({})", roles));
  return conditions;
}

// The texts that a source has found become excerpts: an index in memory knows where the words are.
Result<void> cutExcerpts(std::vector<SearchHit>& hits, const std::string& match, const std::string& excerpts) {
  BOUGH_TRY(const auto opened, catalog::openCatalog({}, {}, false));
  catalog::Database& database = *opened.database;
  std::int64_t row = 0;
  for (SearchHit& hit : hits) {
    catalog::addText(database, ++row, hit.entryId, catalog::EntryRole::Other, hit.timeMs, hit.excerpt);
    Query excerpt(database, excerpts);
    excerpt.bind(match);
    excerpt.bind(row);
    if (excerpt.next()) hit.excerpt = excerpt.text(0);
  }
  return database.take();
}

}  // namespace

Result<std::vector<SearchHit>> Catalog::search(std::string_view query, const SearchOptions& options) {
  BOUGH_TRY(auto parsed, catalog::parseSearch(query));
  const std::string& match = parsed.match;
  BOUGH_TRY(auto conditions, conditionsOf(match, options));
  const std::string excerpts = fmt::format("SELECT excerpt(search, {}) FROM search WHERE search MATCH ? AND rowid = ?",
                                           std::clamp<std::size_t>(options.excerptTokens, 1, 64));
  if (state_->source != nullptr) {
    BOUGH_TRY(auto hits, state_->source->search(parsed.words, options));
    BOUGH_TRY(cutExcerpts(hits, match, excerpts));
    return hits;
  }
  // The best first, then their excerpts: those take the text, which is only wanted of what is shown.
  // What nothing is asked of is not joined: a common word is in very many entries.
  const std::string where = conditions.where();
  const bool asksEntry = where.find("entry.") != std::string::npos;
  const bool asksSession = where.find("session.") != std::string::npos;
  const std::string ranked =
      fmt::format("SELECT search.rowid, search.rank FROM search{}{}{} ORDER BY search.rank, search.rowid DESC LIMIT {}",
                  asksEntry ? " JOIN entry ON entry.id = search.rowid" : "",
                  asksSession ? " JOIN session ON session.id = search.rowid >> 32" : "", where,
                  std::min<std::size_t>(options.limit, 10'000));
  return state_->guarded([&]() -> Result<std::vector<SearchHit>> {
    catalog::Database& database = *state_->database;
    // A list does without; see openQuietly.
    BOUGH_TRY(catalog::prepareSearch(database));
    std::vector<SearchHit> hits;
    std::vector<std::int64_t> rows;
    {
      Query found(database, ranked);
      conditions.bindTo(found);
      while (found.next()) {
        rows.push_back(found.integer(0));
        hits.emplace_back().score = -found.real(1);
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Query about(database,
                  "SELECT session.sessionId, session.title, entry.entryId, entry.role, entry.timeMs FROM entry JOIN "
                  "session ON session.id = entry.id >> 32 WHERE entry.id = ?",
                  rows[i]);
      if (!about.next()) continue;
      SearchHit& hit = hits[i];
      hit.sessionId = about.text(0);
      hit.title = about.text(1);
      hit.entryId = about.text(2);
      hit.role = catalog::toString(static_cast<catalog::EntryRole>(about.integer(3)));
      hit.timeMs = about.number(4);
      Query excerpt(database, excerpts);
      excerpt.bind(match);
      excerpt.bind(rows[i]);
      if (excerpt.next()) hit.excerpt = excerpt.text(0);
    }
    BOUGH_TRY(database.take());
    return hits;
  });
}

}  // namespace bough
