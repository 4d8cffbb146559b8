// The objects behind the handles.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"
#include "capi/handles.h"

namespace bough::capi {

class StoreObject final : public Object {
 public:
  explicit StoreObject(std::unique_ptr<SessionStore> opened) : store(std::move(opened)) {}

  /// Runs `use` with the catalog, brought up to date; one caller at a time, as the catalog demands.
  template <typename Use>
  Outcome withCatalog(bool search, Use use) {
    const std::lock_guard lock(catalogMutex_);
    if (auto ready = catchUp(search); !ready) return ready;
    return use(*catalog_);
  }

  const std::unique_ptr<SessionStore> store;

 private:
  Outcome catchUp(bool search);

  std::mutex catalogMutex_;
  std::unique_ptr<Catalog> catalog_;
};

class SessionObject final : public Object {
 public:
  SessionObject(std::shared_ptr<StoreObject> of, std::string sessionId)
      : parent(std::move(of)), id(std::move(sessionId)) {}

  [[nodiscard]] SessionStore& store() const { return *parent->store; }

  const std::shared_ptr<StoreObject> parent;
  const std::string id;
};

/// Entries in the form that bindings read: all texts in one, and where each ends.
class EntriesObject final : public Object {
 public:
  static constexpr std::size_t kTexts = 8;

  explicit EntriesObject(const std::vector<Entry>& entries);

  [[nodiscard]] std::size_t count() const { return flags_.size(); }
  [[nodiscard]] bough_entry entry(std::size_t index) const;
  [[nodiscard]] bough_packed packed() const;

 private:
  void add(const Entry& entry);

  std::string bytes_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> flags_;
};

Outcome giveEntries(const std::vector<Entry>& entries, bough_entries** out);

class CursorObject final : public Object {
 public:
  CursorObject(std::shared_ptr<SessionObject> of, SessionCursor opened)
      : session(std::move(of)), cursor(std::move(opened)) {}

  const std::shared_ptr<SessionObject> session;
  std::mutex mutex;
  SessionCursor cursor;
};

class FollowerObject final : public Object {
 public:
  FollowerObject(std::shared_ptr<SessionObject> of, SessionFollower opened)
      : session(std::move(of)), follower(std::move(opened)) {}
  ~FollowerObject() override;

  void stop();
  /// Waits for the thread of start(). Not to be called by that thread.
  void join();

  const std::shared_ptr<SessionObject> session;
  std::mutex mutex;  // of `follower`, except its stop()
  SessionFollower follower;
  std::atomic<bool> stopped = false;
  std::thread thread;  // of the callback; set once
};

}  // namespace bough::capi
