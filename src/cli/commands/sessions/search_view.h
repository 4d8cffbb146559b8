// Prints search results for people and for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"
#include "cli/commands/sessions/search_around.h"

namespace bough::cli {

/// Marks consecutive matches as one phrase if the query contains them in the same sequence.
std::string joinPhrases(std::string_view excerpt, std::string_view query);

void printHits(const std::vector<SearchHit>& hits, const AroundOf& aroundOf);
void printHitsJson(const std::vector<SearchHit>& hits, bool more, const AroundOf& aroundOf);
/// Prints at most `limit` sessions, each once, in the order of their best hits, with the number of hits in each.
void printSessionsWith(const std::vector<SearchHit>& hits, std::size_t limit, bool json);

/// Searches titles that users gave; these hits have no entry.
Result<std::vector<SearchHit>> searchTitles(Catalog& catalog, std::string_view query, const SessionFilter& filter,
                                            std::size_t limit);
/// Returns the query with * after each word, for a retry when nothing was found; empty when that changes nothing.
std::string withBeginnings(std::string_view query);
/// Converts `one AND other`, `one NOT other` and `one NEAR other` to this search's syntax: `one other` and `one
/// -other`. Empty when the query has no such operator.
std::string withoutOperators(std::string_view query);

}  // namespace bough::cli
