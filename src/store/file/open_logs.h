// The sessions of a file backend by id, and which of their logs are open. Limits the number of open logs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/system/process_state.h"
#include "store/file/file_session.h"

namespace bough {

/// Thread-safe.
class OpenLogs {
 public:
  OpenLogs(SharingSessions& sessions, FileStore& store) : sessions_(sessions), store_(store) {}

  /// Returns the session with that id. NotFound when there is none.
  Result<std::shared_ptr<FileSession>> session(const std::string& sessionId);
  /// Drops what is known about a session: its file was replaced or removed.
  void drop(const std::string& sessionId);
  /// Called before another log is opened: closes the least recently used log, if nobody is using it.
  void makeRoomFor(FileSession& session);
  /// Runs `work`, which opens files. If the process has reached its limit of open files, closes all logs that nobody is
  /// using and runs `work` once more.
  template <typename Work>
  auto openFiles(const Work& work) -> decltype(work()) {
    auto done = work();
    const bool ranOut = !done && done.error().code == ErrorCode::Io && done.error().retryable;
    return ranOut && closeIdle() ? work() : std::move(done);
  }
  [[nodiscard]] std::uint64_t tick() { return ++ticks_; }

 private:
  struct KnownSession {
    std::weak_ptr<FileSession> session;
    std::shared_ptr<FileSession> open;  ///< Set while its log may be open.
  };
  struct State {
    std::mutex mutex;
    std::unordered_map<std::string, KnownSession> known;
    std::unordered_set<FileSession*> open;                             ///< Those in `known` whose log may be open.
    std::unordered_map<std::string, SessionLog::Identity> identities;  ///< Of logs that were closed to make room.
  };
  struct Idle {
    std::shared_ptr<FileSession> session;
    std::shared_ptr<SessionLog> log;
  };
  static std::vector<Idle> takeIdle(State& state, const FileSession* except, std::size_t most);
  static void dropExpired(State& state);
  void close(const std::vector<Idle>& idle);
  bool closeIdle();

  SharingSessions& sessions_;
  FileStore& store_;
  std::atomic<std::uint64_t> ticks_ = 0;
  PerProcess<State> state_;
};

}  // namespace bough
