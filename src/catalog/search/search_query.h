// What a person types to search, made into what FTS5 takes: nothing that is typed can be a syntax error there.
//
//   word              entries with that word            "two words"   these words in this order
//   pre*              words that begin so               -word         entries without it
//   one OR other      either of them                    several       all of them
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"

namespace bough::catalog {

struct ParsedSearch {
  std::string match;  ///< For FTS5.
  SearchWords words;  ///< For a source that searches itself.
};

/// InvalidArgument, with what is wrong, when there is nothing to look for.
Result<ParsedSearch> parseSearch(std::string_view query);

/// Words as the index holds them: every entry that matches holds one, or a word that begins with it.
std::vector<std::string> anchorsOf(const SearchWords& words);

}  // namespace bough::catalog
