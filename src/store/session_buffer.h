// Buffered appends: accepted at once, made durable together.
//
// An accepted batch has its ids, times and parents, and waits in memory. A flush appends all that waits for a session
// as one batch through the backend, so a crash loses a tail of whole batches; when the backend refuses that forever,
// each batch by itself, so that only those are lost that cannot be stored. A thread flushes what has waited long
// enough; what goes wrong there is returned by the session's next call, and by the next flushAll() even if another call
// has told it before. What a full disk or a busy lock keeps from being written goes on waiting and is tried again;
// until then no more is accepted than may wait.
//
// What waits belongs to the process that accepted it: a child of fork(2) begins with an empty buffer.
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

  /// What waits for a session, oldest first. `use` is called under the session's lock and may add to it.
  Result<AppendResult> accept(const std::shared_ptr<StoredSession>& session,
                              const std::function<Result<AppendResult>(std::vector<Entry>& waiting)>& use);
  /// Writes what waits for a session; also returns what went wrong since the last call.
  Result<void> flush(const std::string& sessionId);
  /// Writes everything. The error tells of each session that has one, and of all that was lost since the last time; it
  /// is retryable when anything still waits.
  Result<void> flushAll();
  /// The same for a call that must see everything: what was lost it tells as flush() does.
  Result<void> writeAll();
  [[nodiscard]] bool hasAny() { return state_->any; }
  /// Ends the thread. What waits still is dropped: flush first.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    explicit Waiting(std::shared_ptr<StoredSession> stored) : session(std::move(stored)) {}

    const std::shared_ptr<StoredSession> session;
    std::mutex mutex;  // held while writing, so that a session's batches keep their order
    std::vector<Entry> entries;
    std::vector<std::size_t> batches;  // how many of the entries each holds, in order
    Clock::time_point since;
    std::optional<Error> lost;       // what was dropped, until the next call of the session is told
    std::optional<Error> lostSoFar;  // the same, until flushAll has told it
    std::optional<Error> delayed;    // why the rest still waits, until somebody is told
  };

  struct State;
  std::shared_ptr<Waiting> find(const std::string& sessionId);
  std::shared_ptr<Waiting> make(const std::shared_ptr<StoredSession>& session);
  static Result<void> append(Waiting& waiting, std::vector<Entry> entries);
  static bool write(Waiting& waiting);
  static bool writeApart(Waiting& waiting);
  static std::optional<Error> takeError(Waiting& waiting);
  Result<void> writeAll(const std::function<std::optional<Error>(Waiting&)>& take);
  Clock::time_point writeDue(const std::map<std::string, std::shared_ptr<Waiting>>& sessions);
  void run(State& state);

  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::map<std::string, std::shared_ptr<Waiting>> sessions;
    std::jthread thread;
    std::atomic<bool> isWatched = false;  // the thread runs; without it nothing waits
    bool stopping = false;
    std::atomic<bool> any = false;
  };

  std::size_t maxEntries_;
  std::chrono::milliseconds maxAge_;
  PerProcess<State> state_;
};

}  // namespace bough
