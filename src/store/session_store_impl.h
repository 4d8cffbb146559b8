// The inside of SessionStore, shared by its source files and by tests that bring their own environment.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/environment.h"
#include "base/ids.h"
#include "base/process_state.h"
#include "bough/store.h"
#include "store/fork_history.h"
#include "store/session_buffer.h"

namespace bough {

struct SessionStore::Impl {
  Impl(std::shared_ptr<StorageBackend> backend, const StoreOptions& options, Environment& environment);

  static Result<std::unique_ptr<SessionStore>> open(std::shared_ptr<StorageBackend> backend,
                                                    const StoreOptions& options, Environment& environment);

  Result<void> checkOpen() const;
  /// Before any read of a session: what this store has buffered for it must be seen.
  Result<void> readyToRead(const std::string& sessionId);
  Result<SessionHandle> create(NewSession session, const std::optional<ForkOrigin>& origin);
  /// Stores large payloads apart and leaves references in `entries`. The hold lasts until the append is done.
  Result<std::unique_ptr<Hold>> storeAttachments(std::vector<Entry>& entries);
  /// Sets what a batch must be checked against beyond the session's own log.
  Result<void> findShared(AppendRequest& request);
  /// What a session with this origin shares. It is kept, so that it is not walked again for every append and read.
  Result<std::shared_ptr<const ForkHistory>> historyOf(const std::string& sessionId,
                                                       const std::optional<ForkOrigin>& origin);
  /// The same for the session as it is now.
  Result<std::shared_ptr<const ForkHistory>> historyOf(const std::string& sessionId);
  Result<AppendResult> append(AppendRequest request, Durability durability);
  /// Appends a batch whose attachments are stored, durably.
  Result<AppendResult> write(AppendRequest request);

  /// The entries from a place on, in the order that a session shows: its header, what it shares, its own.
  Result<std::vector<Entry>> entriesFrom(const std::string& sessionId, std::uint64_t from, std::size_t limit);
  /// One entry as it is stored, of the session or of what it shares.
  Result<Entry> storedEntry(const std::string& sessionId, const std::string& entryId);
  Result<std::uint64_t> placeBehind(const std::string& sessionId, const std::string& position);
  Result<std::vector<Entry>> load(const std::string& sessionId, const LoadOptions& options);
  Result<std::vector<Entry>> finish(const std::string& sessionId, const LoadOptions& wanted,
                                    std::vector<Entry> entries);
  /// Brings back payloads that are stored apart, and hides redacted ones.
  Result<void> complete(const std::string& sessionId, std::vector<Entry>& entries, bool showRedacted,
                        std::size_t limitBytes = SIZE_MAX);
  Result<std::map<std::string, Entry>> redactions(const std::string& sessionId);
  /// Where an entry stands in the order of entriesFrom. NotFound when the session has none of that id.
  Result<std::uint64_t> placeOf(const std::string& sessionId, const std::string& entryId);
  /// The entries at these places, in this order, as they are stored.
  Result<std::vector<Entry>> entriesAt(const std::string& sessionId, std::span<const std::uint64_t> places);
  /// By name.
  Result<std::vector<SessionLabel>> labels(const std::string& sessionId);
  Result<std::map<std::string, SessionLabel>> ownLabels(const std::string& sessionId);
  static Entry labelEntry(std::string_view name, std::string_view entryId);
  Result<SessionTree> tree(const std::string& sessionId);
  Result<void> detach(const std::string& forkId);
  Result<void> detachForks(const std::string& sessionId);
  /// Damaged when not all that a fork shares is there.
  Result<void> refuseMissing(const std::string& forkId);
  /// Conflict when the fork is appended to at the same time.
  Result<void> detachOnce(const std::string& forkId);

  std::shared_ptr<StorageBackend> backend;
  StoreOptions options;
  Environment& environment;
  IdGenerator ids;
  SessionBuffer buffer;
  PerProcess<std::mutex> closing;      // held by close()
  const unsigned forks = forkCount();  // when the store was opened
  std::atomic<bool> closed = false;

  struct KnownHistory {
    ForkOrigin origin;
    std::shared_ptr<const ForkHistory> history;
  };
  static constexpr std::size_t kMaxKnownHistories = 16;
  struct Histories {
    std::mutex mutex;
    std::map<std::string, KnownHistory> known;
  };
  PerProcess<Histories> histories;
};

/// Runs an operation that asks for sequences and then works with them; again when the log changed in between, as it may
/// do several times while others archive it and bring it back.
template <typename Operation>
auto retryWhenChanged(Operation operation) -> decltype(operation()) {
  constexpr int kTries = 8;
  auto result = operation();
  for (int tries = 1; tries < kTries && !result; ++tries) {
    if (result.error().code != ErrorCode::Damaged || !result.error().retryable) break;
    result = operation();
  }
  return result;
}

}  // namespace bough
