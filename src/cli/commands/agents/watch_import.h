// `bough import --watch`: imports again whatever changes in the agents' folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// Imports all sources, and again whatever changes, until Ctrl-C or SIGTERM. `import` brings in some files and prints a
/// line for each that had something new. `sources`: agents, folders and files; all agents when there are none.
Result<ExitCode> watchAndImport(const std::vector<std::string>& sources,
                                const std::function<void(const std::vector<std::string>& paths)>& import);

}  // namespace bough::cli
