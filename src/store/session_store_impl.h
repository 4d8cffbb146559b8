// The implementation of SessionStore, Session and StoreMaintenance. Shared by their source files and by tests that use
// their own environment.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "base/system/process_state.h"
#include "bough/store.h"
#include "store/session_buffer.h"
#include "store/waiting_followers.h"

namespace bough {

struct SessionStore::Impl {
  Impl(std::shared_ptr<StorageBackend> backend, const StoreOptions& options, Environment& environment);

  static Result<std::unique_ptr<SessionStore>> open(std::shared_ptr<StorageBackend> backend,
                                                    const StoreOptions& options, Environment& environment);

  [[nodiscard]] Result<void> checkOpen() const;
  /// Must be called before any read of a session, so that the read sees what this store has buffered for it.
  [[nodiscard]] Result<void> readyToRead(const std::string& sessionId);
  /// Stores a new session and returns its id.
  [[nodiscard]] Result<std::string> create(NewSession session, const std::optional<ForkOrigin>& origin);
  [[nodiscard]] Result<AppendResult> append(const std::shared_ptr<StoredSession>& session, AppendRequest request,
                                            Durability durability);
  [[nodiscard]] Result<void> flush();
  /// Must be called before a call that has to see the buffered entries of all sessions. Reports what was lost; flush()
  /// then reports it again.
  [[nodiscard]] Result<void> writeBuffered();
  [[nodiscard]] Result<void> close();

  const std::shared_ptr<StorageBackend> backend;
  const StoreOptions options;
  Environment& environment;
  IdGenerator ids;
  SessionBuffer buffer;
  WaitingFollowers followers;
  PerProcess<std::mutex> closing;      // held by close()
  const unsigned forks = forkCount();  // when the store was opened
  std::atomic<bool> closed = false;

 private:
  /// Stores large payloads as attachments and leaves references in `entries`. The hold must live until the append is
  /// done.
  Result<std::unique_ptr<Hold>> storeAttachments(std::vector<Entry>& entries);
  Result<AppendResult> acceptBuffered(StoredSession& session, AppendRequest& request, std::vector<Entry>& waiting);
};

struct Session::State {
  std::shared_ptr<SessionStore::Impl> store;
  std::shared_ptr<StoredSession> stored;

  static Session handle(std::shared_ptr<SessionStore::Impl> store, std::shared_ptr<StoredSession> stored) {
    return Session(std::make_shared<State>(std::move(store), std::move(stored)));
  }

  [[nodiscard]] Result<void> ready() const { return store->readyToRead(stored->sessionId()); }
  [[nodiscard]] Result<AppendResult> append(std::string_view type, std::string payload,
                                            std::optional<Durability> durability = {}) const;
};

struct StoreMaintenance::Store {
  std::shared_ptr<SessionStore::Impl> impl;
};

}  // namespace bough
