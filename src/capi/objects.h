// The objects of the handles.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/system/process_state.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "bough/store.h"
#include "capi/handles.h"

namespace bough::capi {

class StoreObject final : public Object {
 public:
  explicit StoreObject(std::unique_ptr<SessionStore> opened) : store(std::move(opened)) {}

  /// Runs `use` with the updated catalog, and with the reason when the catalog could not be updated. One caller at a
  /// time, because a Catalog is not thread-safe.
  template <typename Use>
  Outcome withCatalog(bool search, Use use) {
    OwnCatalog& own = *catalog_;
    const std::lock_guard lock(own.mutex);
    std::string outOfDate;
    if (auto ready = catchUp(own.catalog, search, outOfDate); !ready) return ready;
    return use(*own.catalog, outOfDate);
  }

  const std::unique_ptr<SessionStore> store;

 private:
  struct OwnCatalog {
    std::mutex mutex;
    std::unique_ptr<Catalog> catalog;
  };

  Outcome catchUp(std::unique_ptr<Catalog>& catalog, bool search, std::string& outOfDate) const;

  PerProcess<OwnCatalog> catalog_;
};

class SessionObject final : public Object {
 public:
  SessionObject(std::shared_ptr<StoreObject> owner, Session opened)
      : parent(std::move(owner)), session(std::move(opened)) {}

  [[nodiscard]] SessionStore& store() const { return *parent->store; }

  const std::shared_ptr<StoreObject> parent;
  const Session session;  // looked up once, not in every call
};

/// Entries in the form that bindings read: all texts in one block, and where each text ends.
class EntriesObject final : public Object {
 public:
  static constexpr std::size_t kTexts = 8;

  explicit EntriesObject(std::span<const Entry> entries);

  [[nodiscard]] std::size_t count() const { return flags_.size(); }
  [[nodiscard]] bough_entry entry(std::size_t index) const;
  [[nodiscard]] bough_packed packed() const;

 private:
  void add(const Entry& entry);

  std::string bytes_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> flags_;
};

Outcome returnEntries(std::span<const Entry> entries, bough_entries** out);

/// Entries that a reader returned and the caller has not received yet. If memory runs out in between, the next call
/// delivers them.
class PendingEntries {
 public:
  /// Delivers at most `maxCount` entries: those left from an earlier call, or else those that `read` returns.
  /// `position` is the reader's.
  template <typename Read>
  Outcome next(const std::string& position, std::size_t maxCount, Read read, bough_entries** out) {
    if (entries_.empty()) {
      std::string before = position;
      BOUGH_TRY(entries_, read());
      position_ = std::move(before);
    }
    const std::size_t count = std::min(maxCount, entries_.size());
    BOUGH_TRY(returnEntries(std::span(entries_).first(count), out));
    if (count < entries_.size()) position_.swap(entries_[count - 1].id);
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
    if (entries_.empty()) entries_.shrink_to_fit();
    return {};
  }
  /// Returns the id of the last entry that was delivered.
  [[nodiscard]] const std::string& position(const std::string& readerPosition) const {
    return entries_.empty() ? readerPosition : position_;
  }

 private:
  std::vector<Entry> entries_;
  std::string position_;  // before entries_
};

/// Lets one call at a time use an object. After a fork(2) that interrupted a call, refuses all calls in the child,
/// because the object may be half changed there.
class ExclusiveUse {
 public:
  class Use {
   public:
    explicit Use(ExclusiveUse& owner) : lock_(*owner.mutex_), user_(&owner.user_) { *user_ = forkCount() + 1; }
    Use(Use&& other) noexcept : lock_(std::move(other.lock_)), user_(std::exchange(other.user_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (user_ != nullptr) *user_ = 0;
    }

   private:
    std::unique_lock<std::mutex> lock_;
    std::atomic<unsigned>* user_;
  };

  [[nodiscard]] CallResult<Use> begin() {
    if (isInterruptedByFork())
      return refuse("another thread used this when the process forked; open a new one in the child");
    return Use(*this);
  }
  [[nodiscard]] bool isInterruptedByFork() const {
    const unsigned user = user_;
    return user != 0 && user != forkCount() + 1;
  }

 private:
  PerProcess<std::mutex> mutex_;
  std::atomic<unsigned> user_ = 0;  // 0: no call is running; otherwise the fork count of its process, plus 1
};

class CursorObject final : public Object {
 public:
  CursorObject(std::shared_ptr<SessionObject> owner, SessionCursor opened)
      : session(std::move(owner)), cursor(std::move(opened)) {}
  [[nodiscard]] bool isInterruptedByFork() const override { return exclusiveUse.isInterruptedByFork(); }

  const std::shared_ptr<SessionObject> session;
  ExclusiveUse exclusiveUse;
  SessionCursor cursor;
  PendingEntries pending;
};

class FollowerObject final : public Object {
 public:
  FollowerObject(std::shared_ptr<SessionObject> owner, SessionFollower opened)
      : session(std::move(owner)), follower(std::move(opened)) {}
  ~FollowerObject() override;
  [[nodiscard]] bool isInterruptedByFork() const override {
    return exclusiveUse.isInterruptedByFork() || (hasCallback && madeAtForks_ != forkCount());
  }

  /// Stops the follower; does nothing when a fork interrupted it.
  void stop();
  /// Runs `run`, which calls the callback, on a new thread. Call it only once.
  Result<void> start(std::function<void()> run);
  /// Waits for the thread of start(). That thread must not call it.
  void join();

  const std::shared_ptr<SessionObject> session;
  ExclusiveUse exclusiveUse;  // for `follower`, except its stop()
  SessionFollower follower;
  PendingEntries pending;  // used without a callback
  std::atomic<bool> stopped = false;
  std::atomic<bool> hasCallback = false;
  std::atomic<std::thread::id> callbackThread = std::thread::id();  // set by that thread before its first callback

 private:
  const unsigned madeAtForks_ = forkCount();
  std::mutex threadMutex_;
  std::jthread thread_;  // runs the callback; set once
};

}  // namespace bough::capi
