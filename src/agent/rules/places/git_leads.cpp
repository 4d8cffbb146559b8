#include "agent/rules/places/git_leads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/user_folders.h"

namespace bough::agent {

GitLeads::GitLeads(const LeadsTo& to) : to_(to) {
  common_ =
      namedIn({"/etc/gitconfig", pathOfSetting("~/.gitconfig", {}), userFolder(UserFolder::Config) + "/git/config",
               ofVariable("GIT_CONFIG_SYSTEM"), ofVariable("GIT_CONFIG_GLOBAL")},
              gitSettingsOfEnvironment());
}

bool GitLeads::fromEnvironment() const {
  std::vector<std::string> repositories;
  for (const char* variable : {"GIT_DIR", "GIT_COMMON_DIR"}) {
    if (std::string named = ofVariable(variable); !named.empty()) repositories.push_back(std::move(named));
  }
  return common_.leads || std::ranges::any_of(repositories, [&](const std::string& each) { return to_.end(each); }) ||
         fromAll(std::move(repositories), to_.workingFolder(), nullptr);
}

bool GitLeads::from(const std::string& folder) const {
  std::vector<std::string> remotes;
  if (fromRepository(folder, &remotes)) return true;
  return std::ranges::any_of(remotes, [&](const std::string& each) {
    const std::string path = pathOfSetting(each.starts_with("file://") ? each.substr(7) : each, folder);
    // git tries both names. What such a repository pushes to in turn is not followed.
    return fromRepository(path, nullptr) || fromRepository(path + ".git", nullptr);
  });
}

bool GitLeads::fromRepository(const std::string& folder, std::vector<std::string>* remotes) const {
  std::vector<std::string> repositories;
  if (isThere(folder + "/.git")) {
    const std::string named = to_.namedByFile(folder, ".git", "gitdir: ");
    repositories.push_back(named.empty() ? folder + "/.git" : named);
    if (to_.end(repositories.back())) return true;
  } else if (isThere(folder + "/HEAD")) {
    repositories.push_back(folder);
  }
  return !repositories.empty() && fromAll(std::move(repositories), folder, remotes);
}

// Returns the path in a variable; empty when the variable is not set.
std::string GitLeads::ofVariable(const char* name) const {
  const std::string value = environmentVariable(name);
  return value.empty() || value.starts_with('/') ? value : to_.workingFolder() + "/" + value;
}

bool GitLeads::fromAll(std::vector<std::string> repositories, const std::string& folder,
                       std::vector<std::string>* remotes) const {
  // A worktree shares the files of another folder.
  const std::string shared =
      repositories.empty() ? std::string() : to_.namedByFile(repositories.front(), "commondir", "");
  if (!shared.empty()) repositories.push_back(shared);
  std::vector<std::string> settings;
  for (const std::string& each : repositories) {
    for (const char* name : {"/config", "/config.worktree", "/commondir", "/hooks", "/info"}) {
      if (to_.end(each + name)) return true;
    }
    if (to_.fromLinksIn(each + "/hooks") || to_.fromLinksIn(each + "/info")) return true;
    settings.insert(settings.end(), {each + "/config", each + "/config.worktree"});
  }
  Named named = namedIn(std::move(settings));
  if (named.leads) return true;
  if (remotes != nullptr) *remotes = std::move(named.remotes);
  // Hooks that run for a push start in the repository itself, all others in the folder that holds it.
  repositories.push_back(folder);
  return std::ranges::any_of(repositories, [&](const std::string& each) {
    return fromHooks(common_.hookFolders, each) || fromHooks(named.hookFolders, each);
  });
}

bool GitLeads::fromHooks(const std::vector<std::string>& hooks, const std::string& relativeTo) const {
  return std::ranges::any_of(hooks, [&](const std::string& each) {
    const std::string folder = pathOfSetting(each, relativeTo);
    return to_.end(folder) || to_.fromLinksIn(folder);
  });
}

// Collects the hook folders and other repositories that settings name, including files that these settings include.
// Beyond a generous limit, assumes that the settings lead to the path.
GitLeads::Named GitLeads::namedIn(std::vector<std::string> files, GitSettings first) const {
  constexpr std::size_t kMostSettings = 50;
  constexpr std::size_t kMostBytes = 1'000'000;
  Named out;
  const auto take = [&](GitSettings settings, const std::string& relativeTo) {
    std::ranges::move(settings.hookFolders, std::back_inserter(out.hookFolders));
    std::ranges::move(settings.localRemotes, std::back_inserter(out.remotes));
    out.leads =
        out.leads || settings.isCut || out.hookFolders.size() > kMostSettings || out.remotes.size() > kMostSettings;
    for (const std::string& each : settings.includes) {
      std::string named = pathOfSetting(each, relativeTo);
      if (named.empty() || std::ranges::find(files, named) != files.end()) continue;
      out.leads = out.leads || files.size() >= kMostSettings || to_.end(named);
      if (out.leads) return;
      files.push_back(std::move(named));
    }
  };
  std::erase(files, std::string());
  out.leads = std::ranges::any_of(files, [&](const std::string& each) { return to_.end(each); });
  take(std::move(first), to_.workingFolder());
  for (std::size_t i = 0; i < files.size() && !out.leads; ++i) {
    const std::string file = files[i];
    const auto text = to_.read(file, kMostBytes);
    if (!text) continue;
    GitSettings settings = readGitSettings(text->bytes);
    settings.isCut = text->sizeBytes > kMostBytes;
    take(std::move(settings), folderOf(file));
  }
  return out;
}

}  // namespace bough::agent
