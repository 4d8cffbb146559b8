#include "agent/rules/git_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "agent/rules/program_names.h"

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

// The folder that a file `.git` names (`gitdir: ../real`), as worktrees and submodules have one.
std::string namedByFile(const std::string& above, const WorkingFolder& folder) {
  constexpr std::string_view kBeforeName = "gitdir: ";
  constexpr std::size_t kMostBytes = 4'096;
  const auto place = folder.resolve(above + "/.git");
  const auto text = place ? WorkingFolder::read(*place, kMostBytes) : std::unexpected(place.error());
  if (!text || !text->bytes.starts_with(kBeforeName)) return {};
  std::string name = text->bytes.substr(kBeforeName.size());
  name.erase(std::min(name.find_first_of("\r\n"), name.size()));
  return name.starts_with('/') ? name : above + "/" + name;
}

// Whether the repository of the folder `above`, or what git obeys in there, leads to this path by links.
bool leadsTo(const std::string& above, std::string_view path, const WorkingFolder& folder) {
  if (!isThere(above + "/.git")) return false;
  const std::string named = namedByFile(above, folder);
  const std::string repository = named.empty() ? above + "/.git" : named;
  const auto ends = [&](const std::string& from) {
    const auto end = folder.resolve(from);
    return end && isBelow(path, end->path);
  };
  return ends(repository) ||
         anyWord(kObeyedByGit, [&](std::string_view name) { return ends(fmt::format("{}/{}", repository, name)); });
}

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
  for (std::size_t slash = place.path.rfind('/'); slash != std::string::npos;) {
    const std::string above = place.path.substr(0, slash);
    if (leadsTo(above, place.path, folder)) return true;
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
