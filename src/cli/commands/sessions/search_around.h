// Reads the messages around an entry that a search found.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/message.h"
#include "bough/store.h"

namespace bough::cli {

struct Around {
  std::vector<EntrySummary> before = {};  // both in the order of the conversation
  std::vector<EntrySummary> after = {};
};

/// Returns at most `count` messages before and after the hit. The messages after it are those of the branch that ends
/// in `leaf` (empty: the head's branch) if the entry is on that branch, otherwise those of the branch written to last.
/// Empty for a hit in a title.
Result<Around> readAround(SessionStore& store, const SearchHit& hit, std::size_t count, const std::string& leaf = {});

/// Reads around a hit in the hit's own session, wherever that is stored. Empty when not requested.
using AroundOf = std::function<Result<Around>(const SearchHit&)>;

}  // namespace bough::cli
