// From a command's options to the parser's, with messages of our own: people never see the parser's words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// Adds an option, with the checks that belong to its kind: texts are not empty, numbers are in range, choices exist.
void addOption(CLI::App& app, const Option& option);

/// Gives an option that was typed without its value the one it stands for.
void setAlone(const CLI::App& app, const Option& option);

/// What the parser found wrong, as a person would say it.
std::string describe(const CLI::ParseError& error);

}  // namespace bough::cli
