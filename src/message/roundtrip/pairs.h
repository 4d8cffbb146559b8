// Blocks that an API accepts only together: calls and their results.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

/// A block of an original, by index.
struct BlockPlace {
  std::size_t original = 0;
  std::size_t block = 0;
};

/// Returns whether a block comes back unchanged.
using Returns = std::function<bool(BlockPlace place)>;

/// Returns the calls of providers' own tools, and their results, that would come back without their other halves.
/// Halves that were already alone in their own document are not included.
std::vector<BlockPlace> loneServerHalves(const std::vector<Original>& originals, const Returns& returns);

/// Does the same for calls and results of functions, and returns the originals that contain them.
std::vector<std::size_t> originalsOfLoneHalves(const std::vector<Original>& originals, const Returns& returns);

/// Returns whether it is an item of Responses that contains only reasoning.
bool isReasoningItem(const Original& original);
/// Returns whether the API accepts `next` as what such an item led to.
bool mayFollowReasoning(const Original& next);

}  // namespace bough::message
