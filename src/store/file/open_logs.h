// The sessions of a file backend by id, and which of their logs are open: only as many as may be open at a time.
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

/// All calls may come from any thread.
class OpenLogs {
 public:
  OpenLogs(SharingSessions& sessions, FileStore& store) : sessions_(sessions), store_(store) {}

  /// The session of that id. NotFound when there is none.
  Result<std::shared_ptr<FileSession>> session(const std::string& sessionId);
  /// The session's file was replaced or removed.
  void forget(const std::string& sessionId);
  /// Another log is about to be opened: closes the one that was not used for the longest time, if nobody is using it.
  void makeRoomFor(FileSession& session);
  /// Does `work`, which opens files. When the process may not open any more, the logs that nobody is using are closed,
  /// and it is done once more.
  template <typename Work>
  auto openFiles(const Work& work) -> decltype(work()) {
    auto done = work();
    const bool ranOut = !done && done.error().code == ErrorCode::Io && done.error().retryable;
    return ranOut && closeIdle() ? work() : std::move(done);
  }
  [[nodiscard]] std::uint64_t tick() { return ++ticks_; }

 private:
  struct Known {
    std::weak_ptr<FileSession> session;
    std::shared_ptr<FileSession> open;  ///< While its log may be open.
  };
  struct State {
    std::mutex mutex;
    std::unordered_map<std::string, Known> known;
    std::unordered_set<FileSession*> open;                             ///< Those of `known` that are kept.
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
