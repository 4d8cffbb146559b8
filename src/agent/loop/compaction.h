// Compaction: a model writes a summary of the older part of a branch; the context then begins with it. Nothing is
// removed.
#pragma once

#include <optional>

#include "agent/loop/journal.h"

namespace bough::agent {

/// Appends a `compaction_summary`. What it keeps is about a fifth of the window, or of a history that fills less than
/// the window, from the beginning of a turn on, or, in a turn that is larger, of an answer. `keep` is what the user
/// wants the summary to hold; may be empty. None when there is nothing to leave out.
Result<std::optional<CompactionReport>> compact(const Agent& agent, Journal& journal, std::uint64_t windowTokens,
                                                const std::string& keep = {});

}  // namespace bough::agent
