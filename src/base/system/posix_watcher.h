// Watches a folder with one inotify instance, shared by all watchers of its files.
//
// The first waiting thread reads the events for all; the others sleep until that thread notifies them. A thousand
// watchers therefore need one descriptor and no thread of their own. A child of fork(2) gets its own instance: with a
// shared one, each event would reach only one of the two processes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/system/file_system.h"
#include "base/system/process_state.h"

namespace bough {

/// The events of one folder in one process. Thread-safe.
class FolderEvents {
 public:
  /// `folder` is a path that leads to the folder even after it was moved.
  explicit FolderEvents(std::string folder);
  ~FolderEvents();
  FolderEvents(const FolderEvents&) = delete;
  FolderEvents& operator=(const FolderEvents&) = delete;

  [[nodiscard]] SysResult<void> status() const { return status_; }

  /// A watcher of these names, or of all names of the folder when `names` is empty.
  class Waiter {
   public:
    Waiter(FolderEvents& events, const std::vector<std::string>& names, bool isLate);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    SysResult<bool> wait(int timeoutMs) { return events_.wait(*this, timeoutMs); }
    void wake();
    Watcher::Changed takeChanged();

   private:
    friend class FolderEvents;
    // Both require the lock of the FolderEvents.
    void enter();
    void leave();

    FolderEvents& events_;
    const std::unordered_set<std::string> names_;
    // Guarded by the lock of the FolderEvents.
    Watcher::Changed changed_;
    bool hasChanges_ = false;  // something changed since the last wait
    bool woken_ = false;
  };

 private:
  struct File {
    std::vector<Waiter*> waiters;
    int descriptor = -1;  ///< Inotify's watch descriptor; -1 while the file does not exist.
  };

  SysResult<bool> wait(Waiter& waiter, int timeoutMs);

  // Everything below requires mutex_.
  void watchFolder();
  void watchFile(const std::string& name, File& file);
  void unwatch(const std::string& name, int descriptor);
  void readEvents();
  void handleEvents();
  void recordChange(const std::string& name);
  void recordAllChanged();

  const std::string folder_;
  SysResult<void> status_ = {};
  int events_ = -1;
  int wakeup_ = -1;
  std::mutex mutex_;
  std::condition_variable eventsRead_;
  bool rewatch_ = false;  // some files may lack a watch
  bool reading_ = false;  // a thread is in poll(), without the lock
  std::vector<Waiter*> waitingForAll_;
  std::unordered_map<std::string, File> files_;
  std::unordered_multimap<int, std::string> names_;  // by watch descriptor: a file may have two names
};

/// Watches names in the folder of these events.
SysResult<std::unique_ptr<Watcher>> watchNames(std::shared_ptr<PerProcess<FolderEvents>> events,
                                               const std::vector<std::string>& names);

}  // namespace bough
