// The complete reference of the command line: docs/cli.md and the manual page.
#pragma once

#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

std::string markdownReference(const std::vector<CommandGroup>& groups);
/// Returns bough.1, written in man macros.
std::string manualPage(const std::vector<CommandGroup>& groups);

}  // namespace bough::cli
