// Redacted entries in a file of the agent that wrote them. Other lines of the file name the lines of these entries, so
// each of them is replaced by a line which says only that something was there.
#pragma once

#include <string>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Returns, by place, which redacted entries need such a line: those before or after an entry that the agent wrote
/// itself (`own`). An erased entry does not say whose line it was.
std::vector<bool> placesNeedingPlaceholder(const EntryList& entries, const EntryTree& tree,
                                           const std::vector<bool>& own);

/// Returns the content of such a line, as a message of the agent's dialect.
std::string placeholderMessage(const EntryList& entries, const EntryTree& tree, std::size_t place, Dialect dialect);

}  // namespace bough::transcript
