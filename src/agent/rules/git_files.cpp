#include "agent/rules/git_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/rules/git_settings.h"
#include "agent/rules/program_names.h"
#include "base/system/folder_stream.h"
#include "base/user_folders.h"

namespace bough::agent {
namespace {

constexpr std::string_view kObeyedByGit = "config config.worktree commondir hooks info";
constexpr std::string_view kOfRepository = "config config.worktree commondir hooks info objects refs";

std::string lowerCase(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool isThere(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool isLink(const std::string& path) {
  char byte = 0;
  return ::readlink(path.c_str(), &byte, 1) >= 0;
}

// What a folder holds, at most so many; nothing where it cannot be read. The iterator of the standard library ends the
// process when memory runs out.
std::vector<std::string> namesIn(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  const FolderStream stream(::opendir(folder.c_str()));
  while (stream != nullptr && names.size() < most) {
    const dirent* each = ::readdir(stream.get());
    if (each == nullptr) break;
    const std::string_view name = each->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

bool isBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Calls `visit` with the first word of a list, and so on, until it is true.
template <typename Visit>
bool anyWord(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (visit(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// The folder that is named in a file, such as `.git` (`gitdir: ../real`) of worktrees and submodules.
std::string namedByFile(const std::string& folderOfFile, std::string_view name, std::string_view beforeName,
                        const WorkingFolder& folder) {
  constexpr std::size_t kMostBytes = 4'096;
  const auto place = folder.resolve(fmt::format("{}/{}", folderOfFile, name));
  const auto text = place ? WorkingFolder::read(*place, kMostBytes) : std::unexpected(place.error());
  if (!text || !text->bytes.starts_with(beforeName)) return {};
  std::string named = text->bytes.substr(beforeName.size());
  named.erase(std::min(named.find_first_of("\r\n"), named.size()));
  if (named.empty()) return {};
  return named.starts_with('/') ? named : folderOfFile + "/" + named;
}

// `~name/x`: below that user's home folder. Empty when there is none of that name.
std::string belowHomeOf(std::string_view path) {
  constexpr std::size_t kBufferBytes = 16'384;
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string buffer(kBufferBytes, '\0');
  passwd user{};
  passwd* found = nullptr;
  const std::string name(path.substr(1, slash - 1));
  if (::getpwnam_r(name.c_str(), &user, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir + std::string(path.substr(slash));
}

// A path in settings of git. Empty when nobody knows where it leads.
std::string pathOfSetting(const std::string& value, const std::string& relativeTo) {
  const bool isOfUser = value.size() > 1 && value[0] == '~' && value[1] != '/';
  const std::string path = isOfUser ? belowHomeOf(value) : withHome(value).value_or("");
  return path.empty() || path.starts_with('/') ? path : relativeTo + "/" + path;
}

// Whether something that git obeys leads to one path.
class Leads {
 public:
  Leads(std::string_view path, const WorkingFolder& folder) : path_(path), folder_(folder) {}

  // What is in a folder `above` it, or that folder itself, when it is a repository.
  [[nodiscard]] bool from(const std::string& above) const {
    std::vector<std::string> repositories;
    if (isThere(above + "/.git")) {
      const std::string named = namedByFile(above, ".git", "gitdir: ", folder_);
      repositories.push_back(named.empty() ? above + "/.git" : named);
      if (end(repositories.back())) return true;
    } else if (isThere(above + "/HEAD")) {
      repositories.push_back(above);
    }
    return !repositories.empty() && fromAll(std::move(repositories), above);
  }

  // The repositories in a folder `above` it, beside those on the way to it: their hooks may be links that lead here.
  [[nodiscard]] bool fromFoldersIn(const std::string& above) const {
    constexpr std::size_t kMostFolders = 1'000;
    for (const std::string& name : namesIn(above + "/", kMostFolders)) {
      const std::string folder = fmt::format("{}/{}", above, name);
      if (isThere(folder + "/.git") && from(folder)) return true;
    }
    return false;
  }

  // The repository that the environment names, and settings that hold in all repositories.
  [[nodiscard]] bool fromEnvironment() const {
    std::vector<std::string> repositories;
    for (const char* variable : {"GIT_DIR", "GIT_COMMON_DIR"}) {
      if (std::string named = ofVariable(variable); !named.empty()) repositories.push_back(std::move(named));
    }
    return std::ranges::any_of(repositories, [&](const std::string& each) { return end(each); }) ||
           fromAll(std::move(repositories), folder_.path());
  }

 private:
  // The path in a variable; empty when it is not set.
  [[nodiscard]] std::string ofVariable(const char* name) const {
    const std::string value = environmentVariable(name);
    return value.empty() || value.starts_with('/') ? value : folder_.path() + "/" + value;
  }

  [[nodiscard]] bool fromAll(std::vector<std::string> repositories, const std::string& above) const {
    // Worktrees share what is in another folder.
    const std::string shared =
        repositories.empty() ? std::string() : namedByFile(repositories.front(), "commondir", "", folder_);
    if (!shared.empty()) repositories.push_back(shared);
    return std::ranges::any_of(repositories, [&](const std::string& each) { return fromRepository(each); }) ||
           fromSettings(repositories, above);
  }

  [[nodiscard]] std::optional<GitSettings> settingsIn(const std::string& file, std::size_t mostBytes) const {
    if (file == kEnvironment) return gitSettingsOfEnvironment();
    const auto place = folder_.resolve(file);
    const auto text = place ? WorkingFolder::read(*place, mostBytes) : std::unexpected(place.error());
    if (!text) return std::nullopt;
    GitSettings settings = readGitSettings(text->bytes);
    settings.isCut = text->sizeBytes > mostBytes;
    return settings;
  }

  [[nodiscard]] bool end(const std::string& from) const {
    const auto place = folder_.resolve(from);
    return place && isBelow(path_, place->path);
  }

  [[nodiscard]] bool fromRepository(const std::string& repository) const {
    return anyWord(kObeyedByGit, [&](std::string_view name) { return end(fmt::format("{}/{}", repository, name)); }) ||
           fromLinksIn(repository + "/hooks") || fromLinksIn(repository + "/info");
  }

  // A hook is often a link to a script in the tree.
  [[nodiscard]] bool fromLinksIn(const std::string& hooks) const {
    constexpr std::size_t kMostHooks = 1'000;
    const std::vector<std::string> names = namesIn(hooks, kMostHooks + 1);
    if (names.size() > kMostHooks) return true;  // nobody knows where the others lead
    return std::ranges::any_of(names, [&](const std::string& name) {
      const std::string hook = fmt::format("{}/{}", hooks, name);
      return isLink(hook) && end(hook);
    });
  }

  // The folder of hooks that settings name, and the files with more of them. Of more than anybody writes, nobody knows
  // where they lead.
  [[nodiscard]] bool fromSettings(const std::vector<std::string>& repositories, const std::string& above) const {
    constexpr std::size_t kMostSettings = 50;
    constexpr std::size_t kMostBytes = 1'000'000;
    std::vector<std::string> files = {"/etc/gitconfig", pathOfSetting("~/.gitconfig", {}),
                                      userFolder(UserFolder::Config) + "/git/config", ofVariable("GIT_CONFIG_SYSTEM"),
                                      ofVariable("GIT_CONFIG_GLOBAL")};
    for (const std::string& each : repositories) {
      files.push_back(each + "/config");
      files.push_back(each + "/config.worktree");
    }
    std::erase(files, std::string());
    if (std::ranges::any_of(files, [&](const std::string& each) { return end(each); })) return true;
    files.insert(files.begin(), kEnvironment);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string file = files[i];
      const auto settings = settingsIn(file, kMostBytes);
      if (!settings) continue;
      if (settings->isCut || settings->hookFolders.size() > kMostSettings) return true;
      for (const std::string& each : settings->hookFolders) {
        const std::string hooks = pathOfSetting(each, above);
        if (end(hooks) || fromLinksIn(hooks)) return true;
      }
      for (const std::string& each : settings->includes) {
        std::string named = pathOfSetting(each, file == kEnvironment ? above : file.substr(0, file.rfind('/')));
        if (std::ranges::find(files, named) != files.end()) continue;
        if (end(named) || files.size() == kMostSettings) return true;
        files.push_back(std::move(named));
      }
    }
    return false;
  }

  static constexpr const char* kEnvironment = "environment";  // no path: those are absolute
  std::string_view path_;
  const WorkingFolder& folder_;
};

// Whether the folder may be a repository itself, and `rest`, the path below it, belongs to that.
bool isOfRepository(const std::string& folder, std::string_view rest, bool isWorkingFolder) {
  const std::string first = lowerCase(rest.substr(0, rest.find('/')));
  if (first != "head") return holdsWord(kObeyedByGit, first) && isThere(folder + "/HEAD");
  return first.size() == rest.size() && (isWorkingFolder || anyWord(kOfRepository, [&](std::string_view name) {
                                           return isThere(fmt::format("{}/{}", folder, name));
                                         }));
}

}  // namespace

bool isGitsOwn(std::string_view given, const Place& place, const WorkingFolder& folder) {
  if (namesGitsOwn(given) || namesGitsOwn(place.path)) return true;
  const std::string root = folder.path() == "/" ? "" : folder.path();
  const Leads leads(place.path, folder);
  if (leads.fromEnvironment()) return true;
  for (std::size_t slash = place.path.rfind('/'); slash != std::string::npos;) {
    const std::string above = place.path.substr(0, slash);
    if (leads.from(above) || (isBelow(above, root) && leads.fromFoldersIn(above))) return true;
    if (isOfRepository(above, std::string_view(place.path).substr(slash + 1), above == root)) return true;
    slash = slash == 0 ? std::string::npos : place.path.rfind('/', slash - 1);
  }
  return false;
}

bool namesGitsOwn(std::string_view word) {
  while (!word.empty()) {
    const std::size_t end = std::min(word.find_first_of("/=:"), word.size());
    if (lowerCase(word.substr(0, end)) == ".git") return true;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return false;
}

}  // namespace bough::agent
