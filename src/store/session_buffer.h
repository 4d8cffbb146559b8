// Buffered appends: accepted at once, made durable together.
//
// An accepted batch has its ids, timestamps and parents, and stays in memory. A flush appends all buffered entries of a
// session through the backend as one batch, so a crash loses only whole batches at the end. If the backend refuses that
// permanently, the batches are appended one by one, so that only those are lost that cannot be stored. A thread flushes
// entries that have been buffered long enough. An error in that thread is returned by the session's next call, and by
// the next flushAll() even if another call has already returned it. Entries that cannot be written because of a full
// disk or a busy lock stay buffered and are tried again; until they are written, the buffer accepts no more than its
// limit.
//
// The buffer belongs to the process that accepted the entries: a child of fork(2) starts with an empty one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/system/process_state.h"
#include "base/system/threads.h"
#include "bough/error.h"
#include "bough/storage_backend.h"

namespace bough {

class SessionBuffer {
 public:
  SessionBuffer(std::size_t maxEntries, int maxMs);
  ~SessionBuffer();

  /// Calls `use` with the buffered entries of a session, oldest first, under the session's lock. `use` may add entries.
  Result<AppendResult> accept(const std::shared_ptr<StoredSession>& session,
                              const std::function<Result<AppendResult>(std::vector<Entry>& waiting)>& use);
  /// Writes the buffered entries of a session. Also returns the errors since the last call.
  Result<void> flush(const std::string& sessionId);
  /// Writes everything. The error covers every session that has one, and everything that was lost since the last
  /// flushAll(). It is retryable when anything is still buffered.
  Result<void> flushAll();
  /// As flushAll(), for a call that must see all entries. Lost entries are reported as by flush(), and again by
  /// flushAll().
  Result<void> writeAll();
  [[nodiscard]] bool hasAny() { return state_->any; }
  /// Stops the thread. Entries that are still buffered are dropped: flush first.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    explicit Waiting(std::shared_ptr<StoredSession> stored) : session(std::move(stored)) {}

    const std::shared_ptr<StoredSession> session;
    std::mutex mutex;  // held while writing, so that a session's batches keep their order
    std::vector<Entry> entries;
    std::vector<std::size_t> batches;  // the number of entries in each batch, in order
    Clock::time_point since;
    std::optional<Error> lost;               // what was dropped, until the session's next call returns it
    std::optional<Error> lostSinceFlushAll;  // the same, until flushAll() returns it
    std::optional<Error> delayed;            // why the rest is still buffered, until a call returns it
  };

  struct State;
  std::shared_ptr<Waiting> find(const std::string& sessionId);
  std::shared_ptr<Waiting> make(const std::shared_ptr<StoredSession>& session);
  static Result<void> append(Waiting& waiting, std::vector<Entry> entries);
  static bool write(Waiting& waiting);
  static bool writeBatchByBatch(Waiting& waiting);
  static std::optional<Error> takeError(Waiting& waiting);
  Result<void> writeAll(const std::function<std::optional<Error>(Waiting&)>& take);
  Clock::time_point writeDue(const std::map<std::string, std::shared_ptr<Waiting>>& sessions);
  void run(State& state);

  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::map<std::string, std::shared_ptr<Waiting>> sessions;
    std::jthread thread;
    std::atomic<bool> isWatched = false;  // the thread runs; without it nothing stays buffered
    bool stopping = false;
    std::atomic<bool> any = false;
  };

  std::size_t maxEntries_;
  std::chrono::milliseconds maxAge_;
  PerProcess<State> state_;
};

}  // namespace bough
