// Tab completion in the input line of a chat.

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/repl/chat_session.h"

namespace bough::cli {
namespace {

constexpr std::size_t kMostFiles = 500;

bool isHidden(std::string_view name) {
  return name.starts_with('.');
}

// Returns files and folders, at any depth, whose names contain the typed text. Skips folders of generated files, and
// stops after many entries.
std::vector<std::string> filesNamed(const std::filesystem::path& folder, std::string_view typed) {
  constexpr std::size_t kMostEntries = 20'000;
  static const std::set<std::string_view> kMade = {"node_modules", "target", "build", "dist", "__pycache__", "venv"};
  std::vector<std::string> found;
  std::error_code problem;
  std::size_t seen = 0;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk each(folder, std::filesystem::directory_options::skip_permission_denied, problem), end;
       !problem && each != end && ++seen < kMostEntries && found.size() < kMostFiles; each.increment(problem)) {
    const std::string name = each->path().filename().string();
    const bool isFolder = each->is_directory(problem) && !each->is_symlink(problem);
    if (isHidden(name) || (isFolder && kMade.contains(name))) {
      if (isFolder) each.disable_recursion_pending();
      continue;
    }
    if (name.find(typed) == std::string::npos) continue;
    found.push_back(each->path().lexically_relative(folder).string() + (isFolder ? "/" : ""));
  }
  return found;
}

// Returns where a file name begins that the prompt sends (`@FILE`, `@"two words"`): the place of its @, if the cursor
// is in such a name.
std::optional<std::size_t> fileBlock(std::string_view line) {
  for (std::size_t at = line.rfind('@'); at != std::string_view::npos;
       at = at == 0 ? at - 1 : line.rfind('@', at - 1)) {
    if (at > 0 && std::string_view(" \t\n(").find(line[at - 1]) == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + 1);
    const bool isQuoted = name.starts_with('"');
    return name.find_first_of(isQuoted ? "\"" : " \t\n", isQuoted ? 1 : 0) == std::string_view::npos ? std::optional(at)
                                                                                                     : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> filesMatching(const std::string& folder, std::string_view typed) {
  const std::size_t slash = typed.rfind('/');
  const std::string_view parent = slash == std::string_view::npos ? std::string_view() : typed.substr(0, slash + 1);
  const std::filesystem::path base = std::filesystem::path(folder.empty() ? "." : folder) / parent;
  std::vector<std::string> found;
  std::error_code problem;
  for (std::filesystem::directory_iterator each(base, problem), end;
       !problem && each != end && found.size() < kMostFiles; each.increment(problem)) {
    const std::string name = each->path().filename().string();
    std::string path = std::string(parent) + name + (each->is_directory(problem) ? "/" : "");
    if (path.starts_with(typed) && (!isHidden(name) || typed.substr(parent.size()).starts_with('.'))) {
      found.push_back(std::move(path));
    }
  }
  std::ranges::sort(found);
  return found;
}

std::optional<Completion> completeSentFile(const std::string& folder, std::string_view line) {
  const auto at = fileBlock(line);
  if (!at) return std::nullopt;
  const std::string_view word = line.substr(*at);
  const bool isQuoted = word.starts_with("@\"");
  const std::string_view typed = word.substr(isQuoted ? 2 : 1);
  std::vector<std::string> files = filesMatching(folder, typed);
  if (files.empty() && !typed.empty() && typed.find('/') == std::string_view::npos) {
    files = filesNamed(folder.empty() ? "." : folder, typed);
    std::ranges::sort(files);
  }
  Completion out{.replacedBytes = word.size(), .candidates = {}};
  for (const std::string& file : files) {
    const bool quotes = isQuoted || file.find_first_of(" \t") != std::string::npos;
    // For a folder, the name continues after the slash.
    const char* end = quotes && !file.ends_with('/') ? "\"" : "";
    out.candidates.push_back((quotes ? "@\"" : "@") + file + end);
  }
  return out;
}

}  // namespace bough::cli
