// `bough import --watch`: imports sessions again when they change in the agents' folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// Imports files and returns those that could not be imported.
using ImportFiles = std::function<std::vector<std::string>(const std::vector<std::string>& paths)>;

/// Imports all sources, and every later change, until Ctrl-C or SIGTERM. `import` imports some files and prints a line
/// for each that had something new; files that it returns are retried after a minute. `sources` are agents, folders and
/// files; if empty, all agents.
Result<ExitCode> watchAndImport(const std::vector<std::string>& sources, const ImportFiles& import);

}  // namespace bough::cli
