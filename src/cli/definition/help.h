// The help texts, generated from the commands' definitions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// Returns the list of all commands, one per line.
std::string overviewHelp(const std::vector<CommandGroup>& groups, std::size_t width);
/// Returns the help of one command: usage, options, description, examples.
std::string commandHelp(const Command& command, std::size_t width);
/// The same two as one line of JSON.
std::string overviewJson(const std::vector<CommandGroup>& groups);
std::string commandJson(const Command& command);
/// Prints the help of a command, or of all commands when `name` is empty, as text or JSON.
Result<ExitCode> printHelp(const std::vector<CommandGroup>& groups, const std::string& name, bool json);
/// Returns the word in `known` that `word` was probably meant to be; empty when none is close enough.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// Returns the command of that name or alias. Otherwise fails with InvalidArgument and suggests the nearest name.
Result<Command> findCommand(const std::vector<CommandGroup>& groups, const std::string& name);

/// Returns a line such as `bough append SESSION [OPTIONS]`.
std::string usageLine(const Command& command);
/// Returns the syntax of an option: `--limit N`, `SESSION`.
std::string optionSyntax(const Option& option);

}  // namespace bough::cli
