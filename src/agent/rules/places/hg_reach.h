// Follows what Mercurial runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/watched_paths.h"

namespace bough::agent {

/// Returns true when the user's settings, which apply to all repositories, lead to one of the paths.
bool hgUserSettingsReach(const WatchedPaths& watched);
/// Returns true when the settings of the repository in this folder lead to one of the paths.
bool hgRepositoryReaches(const WatchedPaths& watched, const std::string& folder);

}  // namespace bough::agent
