// Files that git runs or obeys.
#pragma once

#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Whether a change of this file may make git run a program, the next time somebody uses git: all below a folder
/// `.git`, or where one leads by links or by a file `.git`; settings and hooks of a folder that holds a HEAD, which may
/// itself be a repository; and what may make a folder such a one. `given` is the path as it was named, `place` where it
/// leads.
bool isGitsOwn(std::string_view given, const Place& place, const WorkingFolder& folder);

/// Whether a word of a command names something below a folder `.git`.
bool namesGitsOwn(std::string_view word);

}  // namespace bough::agent
