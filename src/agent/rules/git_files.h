// Files that git and other programs of version control run or obey.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Ends the question, and the permission, to change such a file, after the program's name.
inline constexpr std::string_view kMayObey = " may run or obey";

/// The program that a change of this file may make run a program, the next time somebody uses it; empty when none. All
/// below a folder `.git` or `.hg`, or where one leads by links or by a file `.git`; settings and hooks of a folder that
/// holds a HEAD, which may itself be a repository; and what may make a folder such a one. `given` is the path as it
/// was named, `place` where it leads.
std::string_view whoObeys(std::string_view given, const Place& place, const WorkingFolder& folder);

/// The same of a change of any of these files: `places` are where they lead, absolute and without links.
std::string_view whoObeysAny(std::span<const std::string> places, const WorkingFolder& folder);

}  // namespace bough::agent
