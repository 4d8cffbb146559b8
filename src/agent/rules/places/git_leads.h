// Follows what git runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/git_settings.h"
#include "agent/rules/places/leading_paths.h"

namespace bough::agent {

/// Finds out whether something that git obeys leads to one of the given paths.
class GitLeads {
 public:
  /// Reads the settings that apply to all repositories, once. `to` must outlive this object.
  explicit GitLeads(const LeadsTo& to);

  /// Checks the repository that the environment names, and the settings that apply to all repositories.
  [[nodiscard]] bool fromEnvironment() const;
  /// Checks the repository in this folder, or the folder itself if it is a repository, and the repositories to which it
  /// pushes, which run hooks of their own.
  [[nodiscard]] bool from(const std::string& folder) const;

 private:
  // The paths that settings name.
  struct Named {
    std::vector<std::string> hookFolders{};
    std::vector<std::string> remotes{};
    bool leads = false;  // a path in the settings is itself a match, or there are more settings than anyone writes
  };

  [[nodiscard]] Named namedIn(std::vector<std::string> files, GitSettings first = {}) const;
  [[nodiscard]] bool fromRepository(const std::string& folder, std::vector<std::string>* remotes) const;
  [[nodiscard]] bool fromAll(std::vector<std::string> repositories, const std::string& folder,
                             std::vector<std::string>* remotes) const;
  [[nodiscard]] bool fromHooks(const std::vector<std::string>& hooks, const std::string& relativeTo) const;
  [[nodiscard]] std::string ofVariable(const char* name) const;

  const LeadsTo& to_;
  Named common_;
};

}  // namespace bough::agent
