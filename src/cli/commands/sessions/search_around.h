// The messages around an entry that a search found.
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
  std::vector<EntrySummary> before = {};  // in the order of the conversation, as after
  std::vector<EntrySummary> after = {};
};

/// At most `count` messages on each side. After it come those of the branch that ends in `leaf` (empty: the head's),
/// where the entry is in that, else those of the branch that was written to last. Of a hit in a title there are none.
Result<Around> readAround(SessionStore& store, const SearchHit& hit, std::size_t count, const std::string& leaf = {});

/// Of the session that the hit is in, wherever that lies. Empty: nobody asked for it.
using AroundOf = std::function<Result<Around>(const SearchHit&)>;

}  // namespace bough::cli
