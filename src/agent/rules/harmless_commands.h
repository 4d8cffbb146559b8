// The commands of common programs that do not run programs named in their arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bough::agent {

/// Used when the allowed words name a program but none of its commands. Returns why the user must be asked about the
/// command that follows: it runs what its arguments name (`npm exec`, a script of an interpreter), downloads other
/// people's programs, changes settings that name programs, or is unknown. Empty when nothing speaks against it, and for
/// programs without commands. Both lists hold words after the program's name.
std::string reasonToAskAboutCommand(std::string_view program, std::span<const std::string> allowed,
                                    std::span<const std::string> added);

/// Returns true when the program's first argument is a command: `git log`.
bool hasCommands(std::string_view program);

}  // namespace bough::agent
