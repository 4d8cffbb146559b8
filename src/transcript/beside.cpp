#include "transcript/beside.h"

#include <algorithm>

#include "base/json_scan.h"
#include "transcript/record.h"

namespace bough::transcript {

std::string folderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string nameOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::optional<std::string> readSmallFile(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
  auto file = openFile(path);
  if (!file) return std::nullopt;
  std::string bytes;
  while (bytes.size() <= kMostBytes) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kChunkBytes);
    const auto got = (*file)->read(std::span(bytes).subspan(had));
    if (!got) return std::nullopt;
    bytes.resize(had + *got);
    if (*got == 0) return bytes;
  }
  return std::nullopt;
}

bool staysBelow(std::string_view relative) {
  if (relative.empty() || relative.front() == '/') return false;
  if (std::ranges::any_of(relative, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; })) {
    return false;
  }
  while (true) {
    const std::size_t slash = relative.find('/');
    const std::string_view part = relative.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    relative.remove_prefix(slash + 1);
  }
}

void eachSession(std::string_view json,
                 const std::function<bool(const std::string& key, std::string_view value)>& use) {
  const std::size_t begin = json.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) return;
  json.remove_prefix(begin);
  if (json.front() == '{') {
    json::ObjectReader members(json);
    while (const auto member = members.next()) {
      std::string key;
      json::appendDecoded(key, member->key);
      if (use(key, member->value)) return;
    }
  } else if (json.front() == '[') {
    json::ArrayReader elements(json);
    while (const auto element = elements.next()) {
      if (use({}, *element)) return;
    }
  }
}

}  // namespace bough::transcript
