#include <algorithm>
#include <cctype>

#include "bough/transcript.h"

namespace bough {
namespace {

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// `C:\work`, `C:/work`, `C:`, `\\server\share`.
bool isWindowsPath(std::string_view path) {
  if (path.starts_with("\\\\")) return true;
  return path.size() >= 2 && isLetter(path[0]) && path[1] == ':' &&
         (path.size() == 2 || path[2] == '\\' || path[2] == '/');
}

bool isSlash(char c, bool isWindows) {
  return c == '/' || (isWindows && c == '\\');
}

std::string_view withoutSlashes(std::string_view folder, bool isWindows) {
  while (!folder.empty() && isSlash(folder.back(), isWindows)) folder.remove_suffix(1);
  return folder;
}

bool isSame(char a, char b, bool isWindows) {
  if (!isWindows) return a == b;
  if (isSlash(a, true) || isSlash(b, true)) return isSlash(a, true) && isSlash(b, true);
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool isAtOrBelow(std::string_view folder, std::string_view top, bool isWindows) {
  if (folder.empty() || folder.size() < top.size()) return false;
  for (std::size_t i = 0; i < top.size(); ++i) {
    if (!isSame(folder[i], top[i], isWindows)) return false;
  }
  return folder.size() == top.size() || isSlash(folder[top.size()], isWindows);
}

}  // namespace

std::optional<std::string> movedFolder(std::string_view folder, const std::vector<MovedFolder>& moves) {
  const bool isWindows = isWindowsPath(folder);
  std::optional<std::string> moved;
  std::size_t longest = 0;
  for (const auto& [from, to] : moves) {
    const std::string_view top = withoutSlashes(from, isWindows);
    if (!isAtOrBelow(folder, top, isWindows) || (moved && top.size() < longest)) continue;
    longest = top.size();
    const bool toWindows = isWindowsPath(to);
    std::string rest(folder.substr(top.size()));
    if (toWindows != isWindows) std::ranges::replace(rest, toWindows ? '/' : '\\', toWindows ? '\\' : '/');
    if (withoutSlashes(rest, isWindows).empty()) rest.clear();
    moved = std::string(withoutSlashes(to, toWindows)) + rest;
    if (moved->empty() || (toWindows && moved->size() == 2)) *moved += toWindows ? '\\' : '/';
  }
  return moved;
}

}  // namespace bough
