// Watches folders and everything below them with one inotify instance: one watch per folder, none per file.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "base/system/file_system.h"

namespace bough {

/// Not thread-safe.
class TreeWatcher {
 public:
  static SysResult<std::unique_ptr<TreeWatcher>> make();
  ~TreeWatcher();
  TreeWatcher(const TreeWatcher&) = delete;
  TreeWatcher& operator=(const TreeWatcher&) = delete;

  /// Watches a folder and all folders below it, also those created later. Does not follow symbolic links. While the
  /// folder does not exist, or after it was moved away, its parents are watched until it appears.
  void add(const std::string& folder);

  /// The number of folders that are watched or waited for, and the number that the system refused to watch.
  [[nodiscard]] std::size_t folderCount() const;
  [[nodiscard]] std::size_t refusedCount() const { return refused_; }

  struct Changed {
    bool all = false;             ///< Too many changes to report.
    std::set<std::string> paths;  ///< Files that were created, written or moved here.
  };
  /// Waits until a file changed, `stop` becomes readable, or the timeout ends. Returns what changed.
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
    bool isAbove = false;  // a parent of a wanted folder; watched only to see that folder appear
  };
  std::unordered_map<int, Folder> folders_;  // by watch descriptor
  std::set<std::string> wanted_;             // the folders passed to add
  std::size_t refused_ = 0;
};

}  // namespace bough
