// `bough prune --agents`: removes old sessions of other agents once the store has them.
#pragma once

#include <string>

#include "cli/definition/command.h"

namespace bough::cli {

/// Lists the transcripts of these agents ("claude-code,codex", "all") that were not written for `olderThan` ("30d").
/// With `apply`, imports each into the store, archives it there, checks that the archive contains every byte of the
/// file, and only then removes the file. A file for which any step fails stays.
Result<ExitCode> pruneAgents(const Context& context, const std::string& agents, const std::string& olderThan,
                             bool apply);

}  // namespace bough::cli
