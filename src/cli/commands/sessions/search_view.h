// What a search found, for people and for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"
#include "cli/commands/sessions/search_around.h"

namespace bough::cli {

/// Joins what was found in a row where the query asked for it in a row: a phrase is marked as one.
std::string joinPhrases(std::string_view excerpt, std::string_view query);

void printHits(const std::vector<SearchHit>& hits, const AroundOf& aroundOf);
void printHitsJson(const std::vector<SearchHit>& hits, bool more, const AroundOf& aroundOf);
/// At most so many sessions, each once, in the order of its best entry, with how many were found in it.
void printSessionsWith(const std::vector<SearchHit>& hits, std::size_t limit, bool json);

/// Hits in titles that somebody gave; a hit has no entry.
Result<std::vector<SearchHit>> searchTitles(Catalog& catalog, std::string_view query, const SessionFilter& filter,
                                            std::size_t limit);
/// The query with * after each word, for when nothing was found; empty when that is no other query.
std::string withBeginnings(std::string_view query);
/// `one AND other`, `one NOT other` and `one NEAR other` as this search writes them: `one other` and `one -other`.
/// Empty when there is no such word.
std::string withoutOperators(std::string_view query);

}  // namespace bough::cli
