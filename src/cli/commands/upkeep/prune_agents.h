// `bough prune --agents`: removes old sessions of other agents, after the store has them.
#pragma once

#include <string>

#include "cli/definition/command.h"

namespace bough::cli {

/// Lists the transcripts of these agents ("claude-code,codex", "all") that nobody wrote to for `olderThan` ("30d").
/// With `apply`, imports each into the store, archives it there, checks that the archive holds every byte of the file,
/// and only then removes the file. A file for which any of this fails stays.
Result<ExitCode> pruneAgents(const Context& context, const std::string& agents, const std::string& olderThan,
                             bool apply);

}  // namespace bough::cli
