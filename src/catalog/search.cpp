// How Catalog searches.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/model/unreadable.h"
#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/database/conditions.h"
#include "catalog/database/entry_facts.h"
#include "catalog/search/search_index.h"
#include "catalog/search/search_query.h"
#include "catalog/search/word_query.h"

namespace bough {

using catalog::Conditions;
using catalog::Query;

namespace {

// Only this many matches are ranked, those taken in last: a word that is in more entries says little. A larger limit of
// the caller ranks more.
constexpr std::size_t kRanked = 5'000;

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

// Returns the text of an entry as every view shows it; std::nullopt when it was redacted or is gone.
Result<std::optional<std::string>> textOf(SessionStore& store, const SearchHit& hit) {
  BOUGH_TRY(const auto session, store.session(hit.sessionId));
  BOUGH_TRY(const auto entry, session.entry(hit.entryId));
  if (entry.redacted) return std::nullopt;
  if (isUnreadable(entry)) return fail(ErrorCode::Damaged, "the entry cannot be read");
  return catalog::readFacts(entry, true).text;
}

// Adds the excerpts. The index does not store texts, and a source returns whole texts. Entries that were redacted since
// the catalog caught up are dropped; an entry that cannot be read now stays a hit without an excerpt.
Result<void> cutExcerpts(SessionStore& store, bool haveTexts, std::string_view query, const SearchOptions& options,
                         std::vector<SearchHit>& hits) {
  if (options.excerptTokens == 0) {
    for (SearchHit& hit : hits) hit.excerpt.clear();
    return {};
  }
  BOUGH_TRY(auto words, catalog::WordQuery::open(query, options.excerptTokens));
  std::vector<SearchHit> shown;
  for (SearchHit& hit : hits) {
    auto text = haveTexts ? Result<std::optional<std::string>>(std::move(hit.excerpt)) : textOf(store, hit);
    hit.excerpt.clear();
    const bool isGone = text ? !text->has_value() : text.error().code == ErrorCode::NotFound;
    if (isGone) continue;
    if (text) {
      BOUGH_TRY(auto excerpt, words.excerptOf(**text));
      if (!excerpt) continue;
      hit.excerpt = std::move(*excerpt);
    }
    shown.push_back(std::move(hit));
  }
  hits = std::move(shown);
  return {};
}

}  // namespace

Result<std::vector<SearchHit>> Catalog::search(std::string_view query, const SearchOptions& options) {
  BOUGH_TRY(auto parsed, catalog::parseSearch(query));
  const std::string& match = parsed.match;
  BOUGH_TRY(auto conditions, conditionsOf(match, options));
  if (state_->source != nullptr) {
    BOUGH_TRY(auto hits,
              state_->askSource([&](CatalogSource& source) { return source.search(parsed.words, options); }));
    BOUGH_TRY(cutExcerpts(state_->store, true, query, options, hits));
    return hits;
  }
  // First find the best hits, then read the details only of the hits that are shown.
  const std::string where = conditions.where();
  const bool asksSession = where.find("session.") != std::string::npos;
  return state_->answerFromSnapshot([&]() -> Result<std::vector<SearchHit>> {
    catalog::Database& database = *state_->database;
    // Not done when the file is opened for a list; see openImmutable.
    BOUGH_TRY(catalog::prepareSearch(database));
    // Join only the tables that conditions need: a common word is in very many entries.
    const bool asksEntry = where.find("entry.") != std::string::npos || catalog::hasAbandonedWords(database);
    const std::size_t limit = std::min<std::size_t>(options.limit, INT64_MAX);
    const std::string ranked = fmt::format(
        "SELECT row, score FROM (SELECT search.rowid AS row, search.rank AS score FROM search{}{}{} ORDER BY "
        "search.rowid DESC LIMIT {}) ORDER BY score, row DESC",
        asksEntry ? " JOIN entry ON entry.id = search.rowid" : "",
        asksSession ? " JOIN session ON session.id = search.rowid >> 32" : "", where, std::max(kRanked, limit));
    std::vector<SearchHit> hits;
    std::vector<std::int64_t> rows;
    {
      Query found(database, ranked);
      conditions.bindTo(found);
      while (found.next()) {
        // Includes all hits with the same score as the last one, because their times are not known yet.
        const double score = -found.real(1);
        if (rows.size() >= limit && (hits.empty() || score < hits.back().score)) break;
        rows.push_back(found.integer(0));
        hits.emplace_back().score = score;
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
    }
    BOUGH_TRY(database.takeFailure());
    std::erase_if(hits, [](const SearchHit& hit) { return hit.entryId.empty(); });
    std::ranges::stable_sort(hits, std::ranges::greater(),
                             [](const SearchHit& hit) { return std::tie(hit.score, hit.timeMs, hit.sessionId); });
    if (hits.size() > limit) hits.resize(limit);
    BOUGH_TRY(cutExcerpts(state_->store, false, query, options, hits));
    return hits;
  });
}

}  // namespace bough
