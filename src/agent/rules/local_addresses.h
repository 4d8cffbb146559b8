// Addresses of other repositories on this machine: programs of version control run what these repositories name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// Returns why the user must be asked about the words after the allowed ones: one of them is the address of a
/// repository on this machine, whose hooks and settings apply to a fetch from it or a push to it. Empty when no word is
/// such an address. Both lists hold words after the program's name. `folder` is the open folder in which the command
/// runs.
std::string reasonToAskAboutAddress(std::string_view program, std::span<const std::string> allowed,
                                    std::span<const std::string> added, int folder);

/// Returns the folders where relative paths of a command may begin, each with a slash at its end: the folder in which
/// it runs (an empty string), and the folders that options before the command name.
std::vector<std::string> foldersOf(std::span<const std::string> allowed);

}  // namespace bough::agent
