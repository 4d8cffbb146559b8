// The commands of common programs that run no program which their arguments name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bough::agent {

/// Where the allowed words name a program, but none of its commands: why the command that follows has to be asked
/// about. It runs what its arguments name (`npm exec`, a script of an interpreter), brings in programs of others,
/// changes settings that name programs, or nobody knows what it does. Empty when nothing speaks against it, and for
/// programs without commands. Both lists hold words after the program's name.
std::string dangerousCommand(std::string_view program, std::span<const std::string> allowed,
                             std::span<const std::string> added);

/// Whether the first argument of the program says what it does: `git log`.
bool hasCommands(std::string_view program);

}  // namespace bough::agent
