#include "agent/rules/places/hg_reach.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/user_folders.h"

namespace bough::agent {
namespace {

// Returns the files of `%include FILE` lines.
std::vector<std::string> includedBy(std::string_view settings) {
  constexpr std::string_view kInclude = "%include";
  std::vector<std::string> out;
  while (!settings.empty()) {
    const std::size_t end = std::min(settings.find('\n'), settings.size());
    std::string_view line = settings.substr(0, end);
    settings.remove_prefix(std::min(end + 1, settings.size()));
    if (!line.starts_with(kInclude)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", kInclude.size()), line.size()));
    out.emplace_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
  }
  return out;
}

// Beyond a generous limit of files, assumes that the settings lead to the path.
bool hgSettingsReach(const WatchedPaths& watched, std::vector<std::string> files) {
  constexpr std::size_t kMostFiles = 50;
  constexpr std::size_t kMostBytes = 1'000'000;
  std::erase(files, std::string());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string file = files[i];
    if (watched.isReachedFrom(file)) return true;
    const auto text = watched.read(file, kMostBytes);
    if (!text) continue;
    if (text->sizeBytes > kMostBytes) return true;
    for (const std::string& each : includedBy(text->bytes)) {
      std::string named = pathOfSetting(each, folderOf(file));
      if (std::ranges::find(files, named) != files.end()) continue;
      if (files.size() == kMostFiles) return true;
      files.push_back(std::move(named));
    }
  }
  return false;
}

}  // namespace

bool hgUserSettingsReach(const WatchedPaths& watched) {
  std::vector<std::string> files = {pathOfSetting("~/.hgrc", {}), userFolder(UserFolder::Config) + "/hg/hgrc"};
  const std::string named = environmentVariable("HGRCPATH");
  for (std::string_view rest = named; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) files.push_back(pathOfSetting(std::string(rest.substr(0, end)), watched.workingFolder()));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return hgSettingsReach(watched, std::move(files));
}

bool hgRepositoryReaches(const WatchedPaths& watched, const std::string& folder) {
  const std::string own = folder + "/.hg";
  if (!pathExists(own)) return false;
  if (watched.isReachedFrom(own)) return true;
  std::vector<std::string> files = {own + "/hgrc", own + "/hgrc-not-shared"};
  // Clones of a repository may share the files of another one.
  if (const std::string shared = watched.namedByFile(own, "sharedpath", ""); !shared.empty()) {
    if (watched.isReachedFrom(shared)) return true;
    files.push_back(shared + "/hgrc");
  }
  return hgSettingsReach(watched, std::move(files));
}

}  // namespace bough::agent
