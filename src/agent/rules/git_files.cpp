#include "agent/rules/git_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "agent/rules/places/git_reach.h"
#include "agent/rules/places/hg_reach.h"
#include "agent/rules/places/repositories_near.h"
#include "agent/rules/places/watched_paths.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

constexpr std::string_view kObeyedByGit = "config config.worktree commondir hooks info";
constexpr const char* kRepositoryNames[] = {"config", "config.worktree", "commondir", "hooks",
                                            "info",   "objects",         "refs"};

std::string lowerCase(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Returns true when the folder may itself be a repository and `rest`, the path below it, belongs to that repository.
bool belongsToRepository(const std::string& folder, std::string_view rest, bool isWorkingFolder) {
  const std::string first = lowerCase(rest.substr(0, rest.find('/')));
  if (first != "head") return holdsWord(kObeyedByGit, first) && pathExists(folder + "/HEAD");
  return first.size() == rest.size() &&
         (isWorkingFolder || std::ranges::any_of(kRepositoryNames, [&](const char* name) {
            return pathExists(fmt::format("{}/{}", folder, name));
          }));
}

}  // namespace

std::string_view programObeying(std::string_view given, const Place& place, const WorkingFolder& folder) {
  const std::string_view named = programOfFolderIn(given);
  return named.empty() ? programObeyingAny(std::span(&place.path, 1), folder) : named;
}

std::string_view programObeyingAny(std::span<const std::string> places, const WorkingFolder& folder) {
  for (const std::string& path : places) {
    if (const std::string_view program = programOfFolderIn(path); !program.empty()) return program;
  }
  const std::string root = folder.path() == "/" ? "" : folder.path();
  const WatchedPaths watched(places, folder);
  const GitReach git(watched);
  if (git.reachesFromEnvironment()) return "git";
  if (hgUserSettingsReach(watched)) return "hg";
  std::string_view found;
  const auto reachesFromFolder = [&](const std::string& each) {
    if (git.reachesFrom(each)) found = "git";
    if (found.empty() && hgRepositoryReaches(watched, each)) found = "hg";
    if (found.empty()) found = programWhoseFolderReaches(watched, each);
    return !found.empty();
  };
  std::set<std::string> seen;
  std::vector<std::string> within;  // folders inside the working folder, to search below
  for (const std::string& path : places) {
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos;) {
      const std::string above = path.substr(0, slash);
      const bool isNew = seen.insert(above).second;
      if (isNew && reachesFromFolder(above)) return found;
      if (isNew && isBelow(above, root)) within.push_back(above);
      if (belongsToRepository(above, std::string_view(path).substr(slash + 1), above == root)) return "git";
      slash = slash == 0 ? std::string::npos : path.rfind('/', slash - 1);
    }
  }
  (void)anyRepositoryBelow(within, reachesFromFolder);
  return found;
}

}  // namespace bough::agent
