#include "transcript/source/folder_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace bough::transcript {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 9;
constexpr std::size_t kGroup = 4096;  // names of one folder that are sorted together

// A folder that is being read.
struct Level {
  std::string path;
  fs::directory_iterator rest;
  std::vector<std::string> names{};  // the name of a folder ends with a slash, so that paths come in order
  std::size_t next = 0;
};

class Walk {
 public:
  explicit Walk(TranscriptWalk& report) : report_(report) {}

  void open(const std::string& path) {
    std::error_code error;
    fs::directory_iterator files(path, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return;
    if (error) return note(path, error.message());
    if (levels_.size() >= kDeepest) return note(path, "it lies too deep");
    levels_.push_back({.path = path, .rest = std::move(files)});
  }

  // Returns the next file; empty at the end.
  std::string next() {
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next == level.names.size() && !readGroup(level)) {
        levels_.pop_back();
        continue;
      }
      std::string path = level.path + "/" + level.names[level.next++];
      if (path.back() != '/') return path;
      path.pop_back();
      open(path);
    }
    return {};
  }

 private:
  bool readGroup(Level& level) {
    level.names.clear();
    level.next = 0;
    while (level.names.size() < kGroup && level.rest != fs::directory_iterator()) {
      std::error_code gone;
      const fs::file_status status = level.rest->symlink_status(gone);
      const std::string name = level.rest->path().filename().string();
      if (!gone && fs::is_directory(status)) level.names.push_back(name + "/");
      if (!gone && fs::is_regular_file(status)) level.names.push_back(name);
      std::error_code error;
      level.rest.increment(error);
      if (error) note(level.path, error.message());
    }
    std::ranges::sort(level.names);
    return !level.names.empty();
  }

  void note(const std::string& path, const std::string& why) {
    if (++report_.folders == 1) report_.example = fmt::format("{}: {}", path, why);
  }

  TranscriptWalk& report_;
  std::vector<Level> levels_;
};

}  // namespace

bool walkFolder(const std::string& root, TranscriptWalk& report,
                const std::function<bool(const std::string& path, std::size_t relativeAt)>& use) {
  std::string folder = root;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  Walk walk(report);
  walk.open(folder);
  for (std::string path = walk.next(); !path.empty(); path = walk.next()) {
    if (!use(path, folder.size() + 1)) return false;
  }
  return true;
}

}  // namespace bough::transcript
