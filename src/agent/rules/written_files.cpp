#include "agent/rules/written_files.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "agent/rules/git_files.h"
#include "agent/rules/local_addresses.h"
#include "agent/rules/option_words.h"
#include "agent/rules/places/repositories_near.h"
#include "agent/rules/places/watched_paths.h"
#include "agent/rules/program_kinds.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

using AllowedWords = std::span<const std::string>;

// Programs that write into a named folder; a copy keeps the name of its file.
constexpr std::string_view kCopiers = "cp gcp mv gmv ln gln install ginstall rsync scp";
// Programs that create the files they are given.
constexpr std::string_view kMakers = "touch mkdir tee mkfifo mknod";
constexpr std::string_view kVersionControl = "git hg jj svn sl";
// Commands of version control that change no file in the working tree.
constexpr std::string_view kOnlyReading =
    "add annotate blame cat cat-file check-attr check-ignore commit describe diff diff-files diff-index diff-tree "
    "files "
    "grep log ls-files ls-tree rev-list rev-parse shortlog show st stage status whatchanged";

// A word taken as a path.
struct NamedFile {
  std::string path{};  // where it leads: absolute, without links
  std::string name{};  // the name of a copy of it
  bool isFolder = false;
  bool isWhole = false;  // the contents are copied, not the folder itself: `a/.`
  bool isPattern = false;
};

bool isFolderAt(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool copiesTrees(std::string_view program, AllowedWords allowed, AllowedWords added) {
  const auto isForTrees = [](const std::string& word) {
    if (word.starts_with("--")) return word == "--recursive" || word == "--archive";
    return word.starts_with('-') && word.find_first_of("arR") != std::string::npos;
  };
  return !program.ends_with("mv") &&
         (std::ranges::any_of(allowed, isForTrees) || std::ranges::any_of(added, isForTrees));
}

bool commandOnlyReads(std::string_view program, AllowedWords allowed, AllowedWords added) {
  if (onlyReads(program)) return true;
  if (!holdsWord(kVersionControl, program)) return false;
  const auto isRead = [](const std::string& word) { return holdsWord(kOnlyReading, word); };
  const auto isName = [](const std::string& word) { return !isOptionWord(word); };
  if (std::ranges::any_of(allowed, isRead)) return true;
  const auto command = std::ranges::find_if(added, isName);
  return std::ranges::none_of(allowed, isName) && command != added.end() && isRead(*command);
}

// Returns the folder that a pattern starts from.
NamedFile patternOf(const std::string& word, std::size_t pattern) {
  const std::size_t slash = word.rfind('/', pattern);
  return {.path = slash == std::string::npos ? "." : word.substr(0, slash + 1), .isPattern = true};
}

NamedFile fileOf(const std::string& word) {
  NamedFile out{.path = word};
  std::string_view name = word;
  out.isWhole = name.ends_with('/') || name == "." || name.ends_with("/.") || name == ".." || name.ends_with("/..");
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  out.name = name.substr(name.rfind('/') + 1);
  return out;
}

// Returns true for patterns such as `./.g*/hooks/x`. A name that begins with a dot is matched only by a pattern that
// begins with one.
bool mayMatchOwnFolder(std::string_view word) {
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('/'), word.size());
    const std::string part(word.substr(0, end));
    const bool matches = std::ranges::any_of(
        std::initializer_list<const char*>{".git", ".hg", ".jj", ".sl", ".pijul", "_darcs"},
        [&](const char* own) { return own[0] == part[0] && ::fnmatch(part.c_str(), own, FNM_CASEFOLD) == 0; });
    if (matches) return true;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return false;
}

// Returns the files that the words name. A word for which no file exists, and which does not look like a path, counts
// only for programs that would create a file.
std::vector<NamedFile> filesOf(bool makes, AllowedWords allowed, const PathWords& added, const WorkingFolder& folder) {
  std::vector<NamedFile> out;
  for (const std::string& from : foldersOf(allowed)) {
    for (std::size_t i = 0; i < added.words.size(); ++i) {
      const std::string& word = added.words[i];
      if (isOptionWord(word)) continue;
      NamedFile file = added.patterns[i] == std::string::npos ? fileOf(word) : patternOf(word, added.patterns[i]);
      std::string path = word.starts_with('/') ? file.path : from + file.path;
      if (path.starts_with('~')) path.insert(0, "./");  // the path was quoted, so the shell does not expand it
      const auto place = folder.resolve(path);
      if (!place) continue;
      file.path = place->path;
      file.isFolder = isFolderAt(file.path);
      if (makes || file.isFolder || word.contains('/') || pathExists(file.path)) out.push_back(std::move(file));
    }
  }
  return out;
}

// Returns true when there is a bare repository (one that is not in a folder such as `.git`) in or below `folder`.
bool hasBareRepositoryBelow(const std::string& folder) {
  return anyRepositoryBelow({folder}, [](const std::string& each) { return pathExists(each + "/HEAD"); });
}

bool hasRepositoryBelow(const std::string& folder) {
  return anyRepositoryBelow({folder}, [](const std::string&) { return true; });
}

// Adds the paths of the copies that a command would make in the named folders. Returns true when a copy may change a
// repository.
bool addCopies(const std::vector<NamedFile>& files, bool trees, const WorkingFolder& folder,
               std::vector<std::string>& paths) {
  for (const NamedFile& to : files) {
    if (!to.isFolder || to.isPattern) continue;
    for (const NamedFile& from : files) {
      if (&from == &to) continue;
      if (from.isPattern) {
        if (pathExists(to.path + "/HEAD") || (trees && hasBareRepositoryBelow(to.path))) return true;
        continue;
      }
      const std::string copy = from.isWhole ? to.path : to.path + "/" + from.name;
      if (from.isFolder && trees && hasRepositoryBelow(copy)) return true;
      if (const auto place = folder.resolve(copy); place && !from.isWhole) paths.push_back(place->path);
    }
  }
  return false;
}

}  // namespace

std::string reasonToAskAboutFiles(std::string_view program, AllowedWords allowed, const PathWords& added,
                                  const WorkingFolder& folder) {
  constexpr std::size_t kMostFiles = 1'000;
  if (commandOnlyReads(program, allowed, added.words)) return {};
  const bool copies = holdsWord(kCopiers, program);
  const std::vector<NamedFile> files = filesOf(copies || holdsWord(kMakers, program), allowed, added, folder);
  if (files.empty()) return {};
  if (files.size() > kMostFiles) return "it names more files than are looked at";
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < added.words.size(); ++i) {
    if (added.patterns[i] != std::string::npos && mayMatchOwnFolder(added.words[i])) {
      return fmt::format("git{} what is named by {}", kMayObey, added.words[i]);
    }
  }
  for (const NamedFile& file : files) {
    if (file.isPattern && hasBareRepositoryBelow(file.path))
      return fmt::format("git{} what is in {}", kMayObey, file.path);
    paths.push_back(file.path);
  }
  const auto folders = std::ranges::count_if(files, [](const NamedFile& file) { return file.isFolder; });
  if (copies && static_cast<std::size_t>(folders) * files.size() > kMostFiles) {
    return "it names more files than are looked at";
  }
  if (copies && addCopies(files, copiesTrees(program, allowed, added.words), folder, paths)) {
    return fmt::format("git{} what it copies", kMayObey);
  }
  const std::string_view obeying = programObeyingAny(paths, folder);
  if (obeying.empty()) return {};
  constexpr std::size_t kMostToName = 16;
  if (paths.size() > kMostToName) return fmt::format("{}{} one of its files", obeying, kMayObey);
  const auto isObeyed = [&](const std::string& path) {
    return !programObeyingAny(std::span(&path, 1), folder).empty();
  };
  const auto found = std::ranges::find_if(paths, isObeyed);
  return fmt::format("{}{} {}", obeying, kMayObey, found == paths.end() ? paths.back() : *found);
}

}  // namespace bough::agent
