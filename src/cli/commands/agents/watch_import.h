// `bough import --watch`: imports again whatever changes in the agents' folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// Returns those that could not be imported.
using ImportFiles = std::function<std::vector<std::string>(const std::vector<std::string>& paths)>;

/// Imports all sources, and again whatever changes, until Ctrl-C or SIGTERM. `import` brings in some files and prints a
/// line for each that had something new; those that it returns could not be imported now, and are tried again after a
/// minute. `sources`: agents, folders and files; all agents when there are none.
Result<ExitCode> watchAndImport(const std::vector<std::string>& sources, const ImportFiles& import);

}  // namespace bough::cli
