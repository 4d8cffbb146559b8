// What Mercurial runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/leading_paths.h"

namespace bough::agent {

/// Whether settings of the user, for all repositories, lead to a path.
bool leadsFromHgOfUser(const LeadsTo& to);
/// Whether settings of the repository in this folder lead to a path.
bool leadsFromHgIn(const LeadsTo& to, const std::string& folder);

}  // namespace bough::agent
