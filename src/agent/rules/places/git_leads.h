// What git runs or obeys, by the names in its repositories and settings.
#pragma once

#include <string>
#include <vector>

#include "agent/rules/places/git_settings.h"
#include "agent/rules/places/leading_paths.h"

namespace bough::agent {

/// Whether something that git obeys leads to one path.
class GitLeads {
 public:
  /// Reads the settings that hold in all repositories, once. `to` has to outlive it.
  explicit GitLeads(const LeadsTo& to);

  /// The repository that the environment names, and the settings that hold in all repositories.
  [[nodiscard]] bool fromEnvironment() const;
  /// What is in a folder, or that folder itself, when it is a repository; and in those that it pushes to, which run
  /// hooks of their own.
  [[nodiscard]] bool from(const std::string& folder) const;

 private:
  // What settings name.
  struct Named {
    std::vector<std::string> hookFolders{};
    std::vector<std::string> remotes{};
    bool leads = false;  // one of them is the path itself, or they are more than anybody writes
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
