// From the words of a command line to the options of a command, with messages of our own: people never see the words of
// the parser that does the work. That parser is seen by one source only, because it takes long to compile.
#pragma once

#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// What the words of a command line say.
struct ParsedLine {
  const Command* command = nullptr;  ///< The command that they name, if any.
  bool help = false;                 ///< `--help` is among them.
  std::string problem;               ///< What is wrong with them, as a person would say it; empty if nothing is.
  std::string missing;               ///< The option or argument that they lack, if that is the problem.
  std::string hint;                  ///< What to do about the problem; empty: the help explains it.
  std::vector<std::string> left;     ///< Those that are neither options nor arguments.
};

/// Reads the words into the targets of the options: of those that every command has, and of the command that is named.
ParsedLine parseLine(int argc, char** argv, const std::vector<Option>& everywhere,
                     const std::vector<CommandGroup>& groups);

}  // namespace bough::cli
