// Follows what git runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/git_settings.h"
#include "agent/rules/places/watched_paths.h"

namespace bough::agent {

/// Checks whether something that git obeys leads to one of the watched paths.
class GitReach {
 public:
  /// Reads the settings that apply to all repositories, once. `watched` must outlive this object.
  explicit GitReach(const WatchedPaths& watched);

  /// Checks the repository that the environment names, and the settings that apply to all repositories.
  [[nodiscard]] bool reachesFromEnvironment() const;
  /// Checks the repository in this folder, or the folder itself if it is a repository, and the repositories to which it
  /// pushes, which run hooks of their own.
  [[nodiscard]] bool reachesFrom(const std::string& folder) const;

 private:
  // The paths that settings name.
  struct NamedPaths {
    std::vector<std::string> hookFolders{};
    std::vector<std::string> remotes{};
    bool reachWatched =
        false;  // a path in the settings is itself a match, or there are more settings than anyone writes
  };

  [[nodiscard]] NamedPaths pathsNamedIn(std::vector<std::string> files, GitSettings first = {}) const;
  [[nodiscard]] bool reachesFromRepository(const std::string& folder, std::vector<std::string>* remotes) const;
  [[nodiscard]] bool reachesFromAll(std::vector<std::string> repositories, const std::string& folder,
                                    std::vector<std::string>* remotes) const;
  [[nodiscard]] bool reachesFromHooks(const std::vector<std::string>& hooks, const std::string& relativeTo) const;
  [[nodiscard]] std::string pathInVariable(const char* name) const;

  const WatchedPaths& watched_;
  NamedPaths common_;
};

}  // namespace bough::agent
