#include "agent/rules/places/repositories_near.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/system/folder_stream.h"

namespace bough::agent {
namespace {

struct OwnFolder {
  std::string_view name;
  std::string_view program;
};

constexpr OwnFolder kOwnFolders[] = {{".git", "git"}, {".hg", "hg"},       {".jj", "jj"},
                                     {".sl", "sl"},   {".pijul", "pijul"}, {"_darcs", "darcs"}};

// On some file systems `.GIT` is the same folder.
bool isSameName(std::string_view name, std::string_view lowerCase) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(name, lowerCase, {}, lower);
}

std::string_view programOfFolderName(std::string_view name) {
  for (const OwnFolder& each : kOwnFolders) {
    if (isSameName(name, each.name)) return each.program;
  }
  return {};
}

struct FolderToList {
  std::string path{};
  bool isLink = false;
};

// The folders of a tree, level by level.
class FolderQueue {
 public:
  explicit FolderQueue(const std::vector<std::string>& first) : first_(first.begin(), first.end()) {
    for (const std::string& each : first) folders_.push_back({.path = each});
  }

  // Lists the next folder. Returns false when there is none.
  bool next(std::string& folder, bool& seemsRepository) {
    if (at_ == folders_.size()) return false;
    const FolderToList listed = std::exchange(folders_[at_++], {});
    const std::size_t before = folders_.size();
    bool isHead = false;
    bool isObjects = false;
    seemsRepository = false;
    const FolderStream stream(::opendir((listed.path + "/").c_str()));
    const bool staysHere = stream != nullptr && !listed.isLink && isOnFirstDisk(::dirfd(stream.get()));
    while (stream != nullptr) {
      const dirent* each = ::readdir(stream.get());
      if (each == nullptr) break;
      const std::string_view name = each->d_name;
      isHead = isHead || name == "HEAD";
      isObjects = isObjects || name == "objects";
      if (!programOfFolderName(name).empty()) {
        seemsRepository = true;
      } else if (staysHere && name != "." && name != "..") {
        add(listed.path, *each);
      }
    }
    // A repository itself holds no user's files, but many folders.
    if (isHead && isObjects) folders_.resize(before);
    seemsRepository = seemsRepository || isHead;
    folder = listed.path;
    return true;
  }

 private:
  // Do not search every mounted disk.
  bool isOnFirstDisk(int folder) {
    struct stat info{};
    if (::fstat(folder, &info) != 0) return false;
    if (!disk_) disk_ = info.st_dev;
    return disk_ == info.st_dev;
  }

  void add(const std::string& folder, const dirent& entry) {
    constexpr std::size_t kMostFolders = 20'000;
    if (folders_.size() >= kMostFolders) return;
    if (entry.d_type != DT_DIR && entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return;
    FolderToList found{.path = fmt::format("{}/{}", folder, entry.d_name)};
    found.isLink = entry.d_type == DT_LNK || (entry.d_type == DT_UNKNOWN && isLink(found.path));
    if (!first_.contains(found.path)) folders_.push_back(std::move(found));
  }

  std::set<std::string> first_;
  std::vector<FolderToList> folders_;
  std::size_t at_ = 0;
  std::optional<dev_t> disk_;
};

}  // namespace

std::string_view programOfFolderIn(std::string_view word) {
  while (!word.empty()) {
    const std::size_t end = std::min(word.find_first_of("/=:"), word.size());
    if (const std::string_view program = programOfFolderName(word.substr(0, end)); !program.empty()) return program;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return {};
}

std::string_view programWhoseFolderReaches(const WatchedPaths& watched, const std::string& folder) {
  for (const OwnFolder& each : kOwnFolders) {
    const std::string own = fmt::format("{}/{}", folder, each.name);
    if (pathExists(own) && watched.isReachedFrom(own)) return each.program;
  }
  return {};
}

bool anyRepositoryBelow(const std::vector<std::string>& folders, const std::function<bool(const std::string&)>& visit) {
  FolderQueue queue(folders);
  std::string folder;
  for (bool seemsRepository = false; queue.next(folder, seemsRepository);) {
    if (seemsRepository && visit(folder)) return true;
  }
  return false;
}

}  // namespace bough::agent
