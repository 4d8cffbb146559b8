// What each shell runs to complete a command line.
#pragma once

#include <string_view>

namespace bough::cli::completion_command {

/// Of bash, zsh or fish.
std::string_view scriptFor(std::string_view shell);

}  // namespace bough::cli::completion_command
