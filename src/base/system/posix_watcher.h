// Watching a folder: one inotify instance for all who wait for its files.
//
// Whoever waits first reads the events, for everybody; the others sleep until it tells them. So a thousand followers
// need no thread of their own and one descriptor between them. A child of fork(2) has an instance of its own: of a
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

/// The events of one folder, in one process. All calls may come from any thread.
class FolderEvents {
 public:
  /// `folder`: a path that leads to the folder wherever it has moved to.
  explicit FolderEvents(std::string folder);
  ~FolderEvents();
  FolderEvents(const FolderEvents&) = delete;
  FolderEvents& operator=(const FolderEvents&) = delete;

  [[nodiscard]] SysResult<void> status() const { return status_; }

  /// Somebody who waits for names; all of the folder's when there are none.
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
    // Both need the events' lock.
    void enter();
    void leave();

    FolderEvents& events_;
    const std::unordered_set<std::string> names_;
    // Guarded by the events' lock.
    Watcher::Changed changed_;
    bool fresh_ = false;  // something changed since the last wait
    bool woken_ = false;
  };

 private:
  struct File {
    std::vector<Waiter*> waiters;
    int descriptor = -1;  ///< Of inotify; -1 while there is no such file.
  };

  SysResult<bool> wait(Waiter& waiter, int timeoutMs);

  // All below need mutex_.
  void watchFolder();
  void watchFile(const std::string& name, File& file);
  void unwatch(const std::string& name, int descriptor);
  void readEvents();
  void takeEvents();
  void note(const std::string& name);
  void noteAll();

  const std::string folder_;
  SysResult<void> status_ = {};
  int events_ = -1;
  int wakeup_ = -1;
  std::mutex mutex_;
  std::condition_variable told_;
  bool rewatch_ = false;  // some file may not be watched
  bool reading_ = false;  // somebody is in poll(), without the lock
  std::vector<Waiter*> waitingForAll_;
  std::unordered_map<std::string, File> files_;
  std::unordered_multimap<int, std::string> names_;  // by descriptor: a file may have two names
};

/// Watches names of the folder that these are the events of.
SysResult<std::unique_ptr<Watcher>> watchNames(std::shared_ptr<PerProcess<FolderEvents>> events,
                                               const std::vector<std::string>& names);

}  // namespace bough
