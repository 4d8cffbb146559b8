// Suggests another query when no entry matches the words of a search.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::catalog {

/// Returns the query with each word that is not in the index of a store's folder replaced: by `word*` when the index
/// has words with that prefix, otherwise by the most similar word in the index. Empty when nothing changes. Fails when
/// the folder has no index.
Result<std::string> similarQuery(const std::string& folder, std::string_view query);

}  // namespace bough::catalog
