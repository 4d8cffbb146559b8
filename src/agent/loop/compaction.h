// Compaction: a model summarizes the older part of a branch, and the context then begins with the summary. Nothing is
// removed from the session.
#pragma once

#include <optional>

#include "agent/loop/journal.h"

namespace bough::agent {

/// Appends a `compaction_summary`. Keeps about a fifth of the window (or of the history, if that is shorter), starting
/// at the beginning of a turn, or at an answer if one turn is larger than that. `keep` is what the user wants the
/// summary to contain; may be empty. Returns std::nullopt when there is nothing to leave out.
Result<std::optional<CompactionReport>> compact(const Agent& agent, Journal& journal, std::uint64_t windowTokens,
                                                const std::string& keep = {});

}  // namespace bough::agent
