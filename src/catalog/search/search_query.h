// Translates a search typed by a user into an FTS5 query. No input can cause a syntax error in FTS5.
//
//   word              entries with that word            "two words"   these words in this order
//   pre*              words with that prefix            -word         entries without it
//   one OR other      either of them                    several       all of them
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"

namespace bough::catalog {

struct ParsedSearch {
  std::string match;  ///< For FTS5.
  SearchWords words;  ///< For a source with its own search.
};

/// Returns InvalidArgument, with the reason, when there is nothing to search for.
Result<ParsedSearch> parseSearch(std::string_view query);

/// Returns words in the form of the index. Every matching entry contains one of them, or a word that begins with one.
std::vector<std::string> anchorsOf(const SearchWords& words);

}  // namespace bough::catalog
