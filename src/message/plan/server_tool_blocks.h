// Calls of a provider's own tools and their results. Its API accepts them only together.
#pragma once

#include <bough/message.h>

#include <optional>
#include <string>

namespace bough::message {

struct ServerToolBlock {
  bool isResult = false;
  std::string id;  ///< The id that call and result share; empty when the provider wrote none.
};

/// Returns whether a block that is not normalized is the call of such a tool, or its result.
std::optional<ServerToolBlock> serverToolBlockOf(const Block& block, Dialect dialect);

}  // namespace bough::message
