// Addresses of other repositories on this machine: programs of version control run what these say.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// Why words after allowed ones have to be asked about: one is the address of a repository on this machine, whose hooks
/// and settings count for what is fetched from it or pushed to it. Empty when none is. Both lists hold words after the
/// program's name. `folder` is the open folder that the command runs in.
std::string dangerousAddress(std::string_view program, std::span<const std::string> allowed,
                             std::span<const std::string> added, int folder);

/// Where relative paths of a command may begin, each with a slash at its end: the folder that it runs in, which is
/// empty, and those that options before it name.
std::vector<std::string> foldersOf(std::span<const std::string> allowed);

}  // namespace bough::agent
