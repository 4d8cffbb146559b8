// The followers that are waiting for entries. Closing the store ends their wait.
#pragma once

#include <mutex>
#include <set>

#include "base/system/process_state.h"
#include "bough/storage_backend.h"

namespace bough {

/// Thread-safe.
class WaitingFollowers {
 public:
  /// A wait that wakeAll() ends. Create it before the last look at the store: a close after that look then wakes the
  /// watcher.
  class Wait {
   public:
    Wait(WaitingFollowers& all, ChangeWatcher& watcher) : all_(*all.watchers_), watcher_(watcher) {
      const std::lock_guard lock(all_.mutex);
      all_.watchers.insert(&watcher_);
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      const std::lock_guard lock(all_.mutex);
      all_.watchers.erase(&watcher_);
    }

   private:
    friend class WaitingFollowers;
    struct Watchers {
      std::mutex mutex;
      std::set<ChangeWatcher*> watchers;
    };
    Watchers& all_;
    ChangeWatcher& watcher_;
  };

  void wakeAll() {
    Wait::Watchers& registered = *watchers_;
    const std::lock_guard lock(registered.mutex);
    for (ChangeWatcher* watcher : registered.watchers) watcher->wake();
  }

 private:
  PerProcess<Wait::Watchers> watchers_;  // a child of fork(2) does not have the waiting threads
};

}  // namespace bough
