// The reference of the command line, whole: docs/cli.md and the manual page.
#pragma once

#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

std::string markdownReference(const std::vector<CommandGroup>& groups);
/// bough.1, in the man macros.
std::string manualPage(const std::vector<CommandGroup>& groups);

}  // namespace bough::cli
