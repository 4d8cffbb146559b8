// Watches folders and everything below them: one inotify instance, one watch a folder, none a file.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "base/system/file_system.h"

namespace bough {

/// One thread at a time.
class TreeWatcher {
 public:
  static SysResult<std::unique_ptr<TreeWatcher>> make();
  ~TreeWatcher();
  TreeWatcher(const TreeWatcher&) = delete;
  TreeWatcher& operator=(const TreeWatcher&) = delete;

  /// Watches a folder and those below it, which are also those that are made later; follows no link. For a folder that
  /// does not exist, or is moved away, those above it are watched until it does.
  void add(const std::string& folder);

  /// How many folders are watched or waited for, and how many the system refused to watch.
  [[nodiscard]] std::size_t folderCount() const;
  [[nodiscard]] std::size_t refusedCount() const { return refused_; }

  struct Changed {
    bool all = false;             ///< Too much happened to tell what.
    std::set<std::string> paths;  ///< Files that were made, written or moved here.
  };
  /// Waits until a file changed, `stop` can be read, or the time is over, and says what changed.
  SysResult<Changed> wait(int timeoutMs, int stop);

 private:
  explicit TreeWatcher(int events) : events_(events) {}
  void addBelow(const std::string& folder, int depth, std::set<std::string>* files);
  void addWanted(const std::string& folder, std::set<std::string>* files);
  void watchAbove(const std::string& folder);
  void removeBelow(const std::string& folder);
  void readEvents(Changed& changed);

  int events_;
  struct Folder {
    std::string path;
    bool isAbove = false;  // watched only for what is made, or moved, above a folder that add was asked for
  };
  std::unordered_map<int, Folder> folders_;  // by watch
  std::set<std::string> wanted_;             // what add was asked for
  std::size_t refused_ = 0;
};

}  // namespace bough
