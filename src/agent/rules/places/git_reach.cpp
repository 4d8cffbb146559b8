#include "agent/rules/places/git_reach.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/user_folders.h"

namespace bough::agent {

GitReach::GitReach(const WatchedPaths& watched) : watched_(watched) {
  common_ =
      pathsNamedIn({"/etc/gitconfig", pathOfSetting("~/.gitconfig", {}), userFolder(UserFolder::Config) + "/git/config",
                    pathInVariable("GIT_CONFIG_SYSTEM"), pathInVariable("GIT_CONFIG_GLOBAL")},
                   gitSettingsOfEnvironment());
}

bool GitReach::reachesFromEnvironment() const {
  std::vector<std::string> repositories;
  for (const char* variable : {"GIT_DIR", "GIT_COMMON_DIR"}) {
    if (std::string named = pathInVariable(variable); !named.empty()) repositories.push_back(std::move(named));
  }
  return common_.reachWatched ||
         std::ranges::any_of(repositories, [&](const std::string& each) { return watched_.isReachedFrom(each); }) ||
         reachesFromAll(std::move(repositories), watched_.workingFolder(), nullptr);
}

bool GitReach::reachesFrom(const std::string& folder) const {
  std::vector<std::string> remotes;
  if (reachesFromRepository(folder, &remotes)) return true;
  return std::ranges::any_of(remotes, [&](const std::string& each) {
    const std::string path = pathOfSetting(each.starts_with("file://") ? each.substr(7) : each, folder);
    // git tries both names. What such a repository pushes to in turn is not followed.
    return reachesFromRepository(path, nullptr) || reachesFromRepository(path + ".git", nullptr);
  });
}

bool GitReach::reachesFromRepository(const std::string& folder, std::vector<std::string>* remotes) const {
  std::vector<std::string> repositories;
  if (pathExists(folder + "/.git")) {
    const std::string named = watched_.namedByFile(folder, ".git", "gitdir: ");
    repositories.push_back(named.empty() ? folder + "/.git" : named);
    if (watched_.isReachedFrom(repositories.back())) return true;
  } else if (pathExists(folder + "/HEAD")) {
    repositories.push_back(folder);
  }
  return !repositories.empty() && reachesFromAll(std::move(repositories), folder, remotes);
}

// Returns the path in a variable; empty when the variable is not set.
std::string GitReach::pathInVariable(const char* name) const {
  const std::string value = environmentVariable(name);
  return value.empty() || value.starts_with('/') ? value : watched_.workingFolder() + "/" + value;
}

bool GitReach::reachesFromAll(std::vector<std::string> repositories, const std::string& folder,
                              std::vector<std::string>* remotes) const {
  // A worktree shares the files of another folder.
  const std::string shared =
      repositories.empty() ? std::string() : watched_.namedByFile(repositories.front(), "commondir", "");
  if (!shared.empty()) repositories.push_back(shared);
  std::vector<std::string> settings;
  for (const std::string& each : repositories) {
    for (const char* name : {"/config", "/config.worktree", "/commondir", "/hooks", "/info"}) {
      if (watched_.isReachedFrom(each + name)) return true;
    }
    if (watched_.isReachedByLinkIn(each + "/hooks") || watched_.isReachedByLinkIn(each + "/info")) return true;
    settings.insert(settings.end(), {each + "/config", each + "/config.worktree"});
  }
  NamedPaths named = pathsNamedIn(std::move(settings));
  if (named.reachWatched) return true;
  if (remotes != nullptr) *remotes = std::move(named.remotes);
  // Hooks that run for a push start in the repository itself, all others in the folder that holds it.
  repositories.push_back(folder);
  return std::ranges::any_of(repositories, [&](const std::string& each) {
    return reachesFromHooks(common_.hookFolders, each) || reachesFromHooks(named.hookFolders, each);
  });
}

bool GitReach::reachesFromHooks(const std::vector<std::string>& hooks, const std::string& relativeTo) const {
  return std::ranges::any_of(hooks, [&](const std::string& each) {
    const std::string folder = pathOfSetting(each, relativeTo);
    return watched_.isReachedFrom(folder) || watched_.isReachedByLinkIn(folder);
  });
}

// Collects the hook folders and other repositories that settings name, including files that these settings include.
// Beyond a generous limit, assumes that the settings lead to the path.
GitReach::NamedPaths GitReach::pathsNamedIn(std::vector<std::string> files, GitSettings first) const {
  constexpr std::size_t kMostSettings = 50;
  constexpr std::size_t kMostBytes = 1'000'000;
  NamedPaths out;
  const auto take = [&](GitSettings settings, const std::string& relativeTo) {
    std::ranges::move(settings.hookFolders, std::back_inserter(out.hookFolders));
    std::ranges::move(settings.localRemotes, std::back_inserter(out.remotes));
    out.reachWatched = out.reachWatched || settings.isCut || out.hookFolders.size() > kMostSettings ||
                       out.remotes.size() > kMostSettings;
    for (const std::string& each : settings.includes) {
      std::string named = pathOfSetting(each, relativeTo);
      if (named.empty() || std::ranges::find(files, named) != files.end()) continue;
      out.reachWatched = out.reachWatched || files.size() >= kMostSettings || watched_.isReachedFrom(named);
      if (out.reachWatched) return;
      files.push_back(std::move(named));
    }
  };
  std::erase(files, std::string());
  out.reachWatched = std::ranges::any_of(files, [&](const std::string& each) { return watched_.isReachedFrom(each); });
  take(std::move(first), watched_.workingFolder());
  for (std::size_t i = 0; i < files.size() && !out.reachWatched; ++i) {
    const std::string file = files[i];
    const auto text = watched_.read(file, kMostBytes);
    if (!text) continue;
    GitSettings settings = readGitSettings(text->bytes);
    settings.isCut = text->sizeBytes > kMostBytes;
    take(std::move(settings), folderOf(file));
  }
  return out;
}

}  // namespace bough::agent
