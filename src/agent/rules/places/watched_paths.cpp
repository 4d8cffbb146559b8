#include "agent/rules/places/watched_paths.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "base/system/folder_stream.h"
#include "base/user_folders.h"

namespace bough::agent {
namespace {

// Expands `~name/x` to a path below that user's home folder. Empty when there is no such user.
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

}  // namespace

bool pathExists(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool isLink(const std::string& path) {
  char byte = 0;
  return ::readlink(path.c_str(), &byte, 1) >= 0;
}

bool isBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string pathOfSetting(const std::string& value, const std::string& relativeTo) {
  const bool isOfUser = value.size() > 1 && value[0] == '~' && value[1] != '/';
  const std::string path = isOfUser ? belowHomeOf(value) : withHome(value).value_or("");
  return path.empty() || path.starts_with('/') ? path : relativeTo + "/" + path;
}

std::string folderOf(const std::string& file) {
  return file.substr(0, file.rfind('/'));
}

bool WatchedPaths::isReachedFrom(const std::string& start) const {
  const auto place = folder_.resolve(start);
  return place && std::ranges::any_of(paths_, [&](const std::string& path) { return isBelow(path, place->path); });
}

// Uses readdir, because the directory iterator of the standard library ends the process when memory runs out.
bool WatchedPaths::isReachedByLinkIn(const std::string& folder) const {
  constexpr std::size_t kMostNames = 1'000;
  const FolderStream stream(::opendir(folder.c_str()));
  for (std::size_t i = 0; stream != nullptr; ++i) {
    const dirent* each = ::readdir(stream.get());
    if (each == nullptr) break;
    if (i > kMostNames) return true;  // the other names may lead anywhere
    const std::string name = fmt::format("{}/{}", folder, each->d_name);
    if (isLink(name) && isReachedFrom(name)) return true;
  }
  return false;
}

std::optional<WorkingFolder::Content> WatchedPaths::read(const std::string& file, std::size_t mostBytes) const {
  const auto place = folder_.resolve(file);
  auto text = place ? WorkingFolder::read(*place, mostBytes) : std::unexpected(place.error());
  if (!text) return std::nullopt;
  return std::move(*text);
}

std::string WatchedPaths::namedByFile(const std::string& folderOfFile, std::string_view name,
                                      std::string_view beforeName) const {
  constexpr std::size_t kMostBytes = 4'096;
  const auto text = read(fmt::format("{}/{}", folderOfFile, name), kMostBytes);
  if (!text || !text->bytes.starts_with(beforeName)) return {};
  std::string named = text->bytes.substr(beforeName.size());
  named.erase(std::min(named.find_first_of("\r\n"), named.size()));
  if (named.empty()) return {};
  return named.starts_with('/') ? named : folderOfFile + "/" + named;
}

}  // namespace bough::agent
