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
using ComesBack = std::function<bool(BlockPlace place)>;

/// Returns the calls of providers' own tools, and their results, that would come back without each other. Those
/// that were already alone in their own document are not included.
std::vector<BlockPlace> unpairedServerToolBlocks(const std::vector<Original>& originals, const ComesBack& comesBack);

/// Does the same for calls and results of functions, and returns the originals that contain them.
std::vector<std::size_t> originalsWithUnpairedCalls(const std::vector<Original>& originals, const ComesBack& comesBack);

/// Returns whether it is an item of Responses that contains only reasoning.
bool isReasoningItem(const Original& original);
/// Returns whether the API accepts `next` as what such an item led to.
bool mayFollowReasoning(const Original& next);

}  // namespace bough::message
