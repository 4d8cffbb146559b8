// One session of a file backend, based on its log. The log is closed when too many are open, and opened again when it
// is needed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/system/process_state.h"
#include "log/session_log.h"
#include "store/file/file_store.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class OpenLogs;

class FileSession final : public SharingSession {
 public:
  FileSession(SharingSessions& sessions, FileStore& store, OpenLogs& openLogs, std::string sessionId,
              const std::optional<SessionLog::Identity>& previousIdentity);

  [[nodiscard]] Result<SessionState> state() override;
  [[nodiscard]] Result<Entry> header() override;
  [[nodiscard]] Result<AppendResult> append(AppendRequest& request) override;
  [[nodiscard]] Result<std::uint64_t> beginTurn() override;
  [[nodiscard]] Result<std::uint64_t> leaseTurn(const TurnLease& lease) override;
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override;

  Result<std::uint64_t> generation() override;
  Result<std::optional<ForkOrigin>> origin() override;
  Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) override;
  Result<std::vector<std::uint64_t>> ownSelect(const Selection& selection) override;
  Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind> kinds) override;
  Result<SessionOutline> ownOutline() override;
  Result<std::vector<std::string>> ownIds(std::string_view prefix, std::size_t limit) override;
  Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) override;
  Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) override;

  /// Returns the log; opens it if it is closed.
  Result<std::shared_ptr<SessionLog>> log();
  /// Closes the log if nobody is using it, and returns it.
  std::shared_ptr<SessionLog> takeIdleLog();
  /// Drops the log: the session's file was replaced or removed.
  void dropLog();
  void keepIdentity(const std::optional<SessionLog::Identity>& previousIdentity);
  [[nodiscard]] std::uint64_t lastUsed() const { return lastUsed_; }

 private:
  Result<std::uint64_t> numberTurn(std::optional<TurnLease> lease);
  // Returns the generation of a log that was closed to make room, if its file is unchanged; std::nullopt when that is
  // unknown.
  std::optional<std::uint64_t> generationOfClosed();

  // The log that an append goes to, and the origin that was read from that generation of the log.
  struct Target {
    std::shared_ptr<SessionLog> log;
    std::uint64_t generation = 0;
    std::optional<ForkOrigin> origin;
  };
  Result<Target> target();

  FileStore& store_;
  OpenLogs& openLogs_;
  const std::uint32_t changeGroup_;
  std::atomic<std::uint64_t> lastUsed_ = 0;

  struct Opened {
    std::mutex mutex;  // Lock order: OpenLogs' lock, then this one.
    std::shared_ptr<SessionLog> log;
    std::optional<SessionLog::Identity> previousIdentity;  // of the log that was closed
    std::uint64_t originGeneration = 0;  // of the log, when `origin` was read from it; 0: not read yet
    std::optional<ForkOrigin> origin;
  };
  PerProcess<Opened> opened_;
};

/// Returns what a log and its header say about a session.
Result<SessionState> stateOfLog(SessionLog& log, const EntrySerializer& serializer);
/// Returns whose history the session of a log seems to share, even if the log is damaged.
Result<SeenOrigin> originSeenIn(const Result<std::shared_ptr<SessionLog>>& log, const EntrySerializer& serializer);

}  // namespace bough
