// Files that git and other programs of version control run or obey.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// The end of the question and of the permission to change such a file; follows the program's name.
inline constexpr std::string_view kMayObey = " may run or obey";

/// Returns the program that may run another program the next time it is used, if this file changes; empty when there is
/// none. Covers: everything below a folder `.git` or `.hg`, also when a link or a file `.git` leads there; the settings
/// and hooks of a folder that holds a HEAD, which may itself be a repository; and files that could turn a folder into a
/// repository. `given` is the path as it was written, `place` where it leads.
std::string_view programObeying(std::string_view given, const Place& place, const WorkingFolder& folder);

/// The same for changes to any of `places`: absolute paths without links.
std::string_view programObeyingAny(std::span<const std::string> places, const WorkingFolder& folder);

}  // namespace bough::agent
