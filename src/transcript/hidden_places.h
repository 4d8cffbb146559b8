// Redacted entries in a file of the agent that wrote them: its other lines name their lines, so in the place of each
// stands a line that says no more than that something was there.
#pragma once

#include <string>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Which redacted entries get such a line, by place: those before or after an entry that the agent wrote itself
/// (`own`). An erased one does not say whose line it was.
std::vector<bool> hiddenPlaces(const EntryList& entries, const EntryTree& tree, const std::vector<bool>& own);

/// What such a line says, as a message of the agent's dialect.
std::string hiddenMessage(const EntryList& entries, const EntryTree& tree, std::size_t place, Dialect dialect);

}  // namespace bough::transcript
