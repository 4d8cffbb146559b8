// One session of a file backend, over its log. The log is closed when too many are open, and opened again when it is
// needed.
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
              const std::optional<SessionLog::Identity>& before);

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

  /// The open log; opens it when it was closed.
  Result<std::shared_ptr<SessionLog>> log();
  /// Closes the log when nobody is using it; returns what it was.
  std::shared_ptr<SessionLog> takeIdleLog();
  /// The session's file was replaced or removed.
  void forgetLog();
  void keepIdentity(const std::optional<SessionLog::Identity>& before);
  [[nodiscard]] std::uint64_t lastUsed() const { return lastUsed_; }

 private:
  Result<std::uint64_t> numberTurn(std::optional<TurnLease> lease);
  // The generation of a log that was closed to make room and whose file is as it was; none when that is not known.
  std::optional<std::uint64_t> generationOfClosed();

  // Where an append goes, and the origin that was read from that generation of the log.
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
    std::optional<SessionLog::Identity> before;  // of the log that was closed
    std::uint64_t originGeneration = 0;          // of the log, when `origin` was read from it; 0: not read yet
    std::optional<ForkOrigin> origin;
  };
  PerProcess<Opened> opened_;
};

/// What a log says of itself, with what its header says.
Result<SessionState> stateOfLog(SessionLog& log, const EntrySerializer& serializer);
/// Whose history the session of a log seems to share, however damaged the log is.
Result<SeenOrigin> originSeenIn(const Result<std::shared_ptr<SessionLog>>& log, const EntrySerializer& serializer);

}  // namespace bough
