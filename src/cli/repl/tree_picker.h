// Lets the user pick a place in the running session, whose branches are shown as one tree.
#pragma once

#include <optional>
#include <string>

#include "bough/store.h"

namespace bough::cli {

struct PickedPlace {
  std::string headId{};  ///< Where the conversation continues; empty: before its first entry.
  std::string text{};    ///< What the user said there, to be edited and sent again. Empty for other entries.
  bool fork = false;     ///< Continue in a new fork that begins there.
};

/// Returns the place that the user chose, or std::nullopt when the user left.
Result<std::optional<PickedPlace>> pickPlace(SessionStore& store, const std::string& sessionId,
                                             const std::string& headId);

}  // namespace bough::cli
