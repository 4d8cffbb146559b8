// Blocks that an API takes only together: calls and their results.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

/// A block of an original, by their numbers.
struct BlockPlace {
  std::size_t original = 0;
  std::size_t block = 0;
};

/// Whether a block comes back as it was written.
using Returns = std::function<bool(BlockPlace place)>;

/// The calls of providers' own tools and their results that would come back without their other halves. Those that were
/// alone in their own document are not among them.
std::vector<BlockPlace> loneServerHalves(const std::vector<Original>& originals, const Returns& returns);

/// The originals with calls and results of functions that lost their other halves, likewise.
std::vector<std::size_t> originalsOfLoneHalves(const std::vector<Original>& originals, const Returns& returns);

/// Whether it is an item of Responses that is reasoning alone.
bool isReasoningItem(const Original& original);
/// Whether the API takes it as what such an item led to.
bool mayFollowReasoning(const Original& next);

}  // namespace bough::message
