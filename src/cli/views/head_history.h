// Lists the earlier positions of a session's head.
#pragma once

#include <string>
#include <vector>

#include "bough/store.h"

namespace bough::cli {

struct HeadMove {
  std::string entryId = {};    ///< The head's position before the move; empty: before the first entry.
  std::string timestamp = {};  ///< When the head was moved away from it.
};

/// Returns each time the head was moved by hand, most recent first. Reads the moves and the outline, not the messages.
Result<std::vector<HeadMove>> headHistory(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
