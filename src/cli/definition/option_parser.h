// Parses the words of a command line into a command's options, with our own error messages instead of those of the
// underlying library. Only one source file includes that library, because it compiles slowly.
#pragma once

#include <string>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

/// The result of parsing a command line.
struct ParsedLine {
  const Command* command = nullptr;  ///< The command that the words name, if any.
  bool help = false;                 ///< The words include `--help`.
  std::string problem;               ///< What is wrong with the words, in words for a person; empty when nothing is
                                     ///< wrong.
  std::string missing;               ///< The missing option or argument, if that is the problem.
  std::string hint;                  ///< How to solve the problem; empty: the help explains it.
  std::vector<std::string> unplacedWords;  ///< The words that are neither options nor arguments.
};

/// Parses the words into the targets of the global options and of the named command's options.
ParsedLine parseLine(int argc, char** argv, const std::vector<Option>& everywhere,
                     const std::vector<CommandGroup>& groups);

}  // namespace bough::cli
