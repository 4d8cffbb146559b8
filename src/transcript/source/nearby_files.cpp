#include "transcript/source/nearby_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/try.h"
#include "transcript/source/record.h"

namespace bough::transcript {

std::string folderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string nameOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

Result<std::optional<std::string>> readSmallFile(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
  auto file = openFile(path);
  if (!file && file.error().code == ErrorCode::NotFound) return std::nullopt;
  if (!file) return std::unexpected(file.error());
  std::string bytes;
  while (bytes.size() <= kMostBytes) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kChunkBytes);
    BOUGH_TRY(const std::size_t got, (*file)->read(std::span(bytes).subspan(had)));
    bytes.resize(had + got);
    if (got == 0) return bytes;
  }
  return fail(ErrorCode::Unsupported, fmt::format("{} is larger than 64 MiB", path), "");
}

Result<std::optional<std::string>> readSmallFileInFolder(const std::string& folder, const std::string& relative) {
  std::error_code error;
  const std::string root = std::filesystem::canonical(folder, error).string() + "/";
  if (error) return std::nullopt;
  const std::string path = std::filesystem::canonical(root + relative, error).string();
  if (error) return std::nullopt;
  if (!path.starts_with(root)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{}{} is a link out of its folder", root, relative), "");
  }
  return readSmallFile(path);
}

bool staysInFolder(std::string_view relative) {
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

namespace {

Result<std::string> withAppended(const std::string& path, std::string_view json, std::string_view item, char open,
                                 char close) {
  const std::string fresh = std::string(1, open) + "\n  " + std::string(item) + "\n" + close + "\n";
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) return fresh;
  const std::size_t end = json.find_last_not_of(" \t\r\n");
  if (!json::check(json) || json[end] != close) {
    return fail(ErrorCode::Damaged, fmt::format("{}, the agent's list of sessions, is damaged", path),
                "correct or remove the list, then try again");
  }
  const std::size_t last = json.find_last_not_of(" \t\r\n", end - 1);
  const bool isEmpty = json[last] == open;
  std::string out(json.substr(0, last + 1));
  out += isEmpty ? "\n  " : ",\n  ";
  out += item;
  out += "\n";
  out += json.substr(end);
  return out;
}

}  // namespace

Result<std::string> withMember(const std::string& path, std::string_view json, std::string_view key,
                               std::string_view value) {
  return withAppended(path, json, json::quoted(key) + ": " + std::string(value), '{', '}');
}

Result<std::string> withElement(const std::string& path, std::string_view json, std::string_view value) {
  return withAppended(path, json, value, '[', ']');
}

Result<void> makeFolder(const std::string& folder) {
  BOUGH_TRY(orError(posixFileSystem().openRoot(folder, true), "open", folder));
  return {};
}

Result<void> writeNewInFolder(const std::string& folder, const std::string& relative, std::string_view bytes) {
  BOUGH_TRY(auto opened, orError(posixFileSystem().openRoot(folder, true), "open", folder));
  std::string_view rest = relative;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    BOUGH_TRY(opened, orError(opened->openDirectory(rest.substr(0, slash), true), "open", folder + "/" + relative));
    rest.remove_prefix(slash + 1);
  }
  if (opened->info(rest)) return {};
  return writeDurably(*opened, rest, bytes);
}

Result<void> replaceList(const std::string& path, std::string_view bytes) {
  const std::string folder = folderOf(path);
  BOUGH_TRY(const auto opened, orError(posixFileSystem().openRoot(folder, true), "open", folder));
  return writeDurably(*opened, nameOf(path), bytes);
}

}  // namespace bough::transcript
