// The scripts that shells run to complete a command line.
#pragma once

#include <string_view>

namespace bough::cli::completion_command {

/// Returns the script for bash, zsh or fish.
std::string_view scriptFor(std::string_view shell);

}  // namespace bough::cli::completion_command
