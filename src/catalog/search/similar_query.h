// What a person may have meant who searched for words that no entry holds.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::catalog {

/// The query with each word that is not in the index of a store's folder replaced: by `word*` where words begin so, else
/// by the word of the index that is most like it. Empty when that changes nothing. Fails when the folder has no index.
Result<std::string> similarQuery(const std::string& folder, std::string_view query);

}  // namespace bough::catalog
