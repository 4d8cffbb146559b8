// The help, made from the commands' definitions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// All commands, a line each.
std::string overviewHelp(const std::vector<CommandGroup>& groups, std::size_t width);
/// One command: how it is used, what it takes, what it does, examples.
std::string commandHelp(const Command& command, std::size_t width);
/// Both as one line of JSON.
std::string overviewJson(const std::vector<CommandGroup>& groups);
std::string commandJson(const Command& command);
/// Prints the help of a command, or of all when `name` is empty, as text or JSON.
Result<ExitCode> printHelp(const std::vector<CommandGroup>& groups, const std::string& name, bool json);
/// The one of `known` that was perhaps meant by `word`; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// The command of that name. InvalidArgument, with the one that was perhaps meant, when there is none.
Result<Command> findCommand(const std::vector<CommandGroup>& groups, const std::string& name);

/// `bough append SESSION [OPTIONS]`.
std::string usageLine(const Command& command);
/// How an option is written: `--limit N`, `SESSION`.
std::string optionSyntax(const Option& option);

}  // namespace bough::cli
