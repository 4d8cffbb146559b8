// Follows what Mercurial runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/leading_paths.h"

namespace bough::agent {

/// Returns true when the user's settings, which apply to all repositories, lead to one of the paths.
bool leadsFromHgOfUser(const LeadsTo& to);
/// Returns true when the settings of the repository in this folder lead to one of the paths.
bool leadsFromHgIn(const LeadsTo& to, const std::string& folder);

}  // namespace bough::agent
