// Calls of a provider's own tools and their results, which its API takes only together.
#pragma once

#include <bough/message.h>

#include <optional>
#include <string>

namespace bough::message {

struct ServerHalf {
  bool isResult = false;
  std::string id;  ///< What call and result share; empty where the provider wrote none.
};

/// Whether a block that is not normalized is the call of such a tool, or its result.
std::optional<ServerHalf> serverHalfOf(const Block& block, Dialect dialect);

}  // namespace bough::message
