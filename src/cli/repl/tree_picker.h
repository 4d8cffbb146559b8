// Picks a place in the running session: all of its branches as one tree.
#pragma once

#include <optional>
#include <string>

#include "bough/store.h"

namespace bough::cli {

struct PickedPlace {
  std::string headId{};  ///< Where the conversation goes on; empty: before its first entry.
  std::string text{};    ///< What the user said there: to be edited and said again. Empty for other entries.
  bool fork = false;     ///< In a new session that begins there.
};

/// The place that was chosen; none when the user went away.
Result<std::optional<PickedPlace>> pickPlace(SessionStore& store, const std::string& sessionId,
                                             const std::string& headId);

}  // namespace bough::cli
