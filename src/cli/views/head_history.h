// Where the head of a session was before it was moved.
#pragma once

#include <string>
#include <vector>

#include "bough/store.h"

namespace bough::cli {

struct HeadMove {
  std::string entryId = {};    ///< Where the head was; empty before the first entry.
  std::string timestamp = {};  ///< When it was moved away from there.
};

/// Each time the head was moved by hand, the last time first. Reads the moves and the outline, not the messages.
Result<std::vector<HeadMove>> headHistory(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
