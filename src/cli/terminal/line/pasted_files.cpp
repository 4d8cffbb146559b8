#include "cli/terminal/line/pasted_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text/text.h"

namespace bough::cli {
namespace {

// Returns the path of a file:// address: without the name of this machine, and with %20 decoded to a blank.
std::string pathOfAddress(std::string_view address) {
  address.remove_prefix(std::strlen("file://"));
  if (address.starts_with("localhost/")) address.remove_prefix(std::strlen("localhost"));
  std::string path;
  for (std::size_t i = 0; i < address.size(); ++i) {
    unsigned value = 0;
    const std::string_view digits = address.substr(i, 3);
    const bool encoded = digits.size() == 3 && digits.front() == '%' &&
                         std::from_chars(digits.data() + 1, digits.data() + 3, value, 16).ptr == digits.data() + 3;
    path += encoded ? static_cast<char>(value) : address[i];
    if (encoded) i += 2;
  }
  return path;
}

// A dragged or copied image or PDF is pasted as its path: in quotes, with backslashes, or as file://. The user wants to
// send it, which is written `@path`.
std::string pastedFile(std::string path) {
  while (path.ends_with(' ')) path.pop_back();
  const bool address = path.starts_with("file://");
  if (address) path = pathOfAddress(path);
  const bool quoted = path.size() > 2 && path.front() == path.back() && (path.front() == '\'' || path.front() == '"');
  if (quoted) {
    path = path.substr(1, path.size() - 2);
  } else if (!address) {
    std::erase(path, '\\');
  }
  constexpr std::string_view kKinds[] = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"};
  std::string lower = path;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool isKnown = std::ranges::any_of(kKinds, [&](std::string_view kind) { return lower.ends_with(kind); });
  if (!isKnown || !path.starts_with('/') || text::printable(path) != path || path.contains('"')) return {};
  if (::access(path.c_str(), R_OK) != 0) return {};
  return path.find(' ') == std::string::npos ? fmt::format("@{} ", path) : fmt::format("@\"{}\" ", path);
}

}  // namespace

std::string pastedFiles(std::string_view text) {
  std::string files;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string file = end > 0 ? pastedFile(std::string(text.substr(0, end))) : std::string();
    if (end > 0 && file.empty()) return {};
    files += file;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return files;
}

}  // namespace bough::cli
