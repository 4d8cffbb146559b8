// A session of a backend that stores each session's own entries separately and lets a fork refer to the history it
// shares. A backend derives from this class and implements reading a session's own entries. The class provides the rest
// of a StoredSession: entries, tree and labels across forks, redactions, attachments.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/branch_part.h"
#include "base/system/process_state.h"
#include "bough/storage_backend.h"
#include "store/rules/lost_payloads.h"
#include "store/sharing/fork_history.h"

namespace bough {

/// Which entries ownSelect() returns.
struct Selection {
  std::uint64_t fromSequence = 0;
  std::size_t limit = SIZE_MAX;
  std::string type = {};     ///< Empty: all types.
  bool newestFirst = false;  ///< Count the limit from the end, and return the entries in that order.
};

/// loadOwn() stops after the entry that brings the payload total to this size.
inline constexpr std::size_t kOwnPartBytes = std::size_t{8} << 20;

/// Finds the other sessions of a store, and what is stored with them. Must outlive its sessions.
class SharingSessions {
 public:
  virtual ~SharingSessions() = default;
  virtual Result<std::shared_ptr<SharingSession>> session(const std::string& sessionId) = 0;
  virtual Result<std::string> attachment(const std::string& sha256) = 0;
  /// Returns whether the session exists, without opening it.
  virtual bool has(const std::string& sessionId) = 0;
  /// The lost payloads that were met while entries were loaded.
  [[nodiscard]] LostPayloads& lostPayloads() { return *lostPayloads_; }
  /// The total size of the histories that sessions keep. It may outlive this object.
  [[nodiscard]] const std::shared_ptr<std::atomic<std::size_t>>& cachedBytes() const { return cachedBytes_; }

 private:
  PerProcess<LostPayloads> lostPayloads_;
  const std::shared_ptr<std::atomic<std::size_t>> cachedBytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// In calls whose names begin with `own`, sequences number the session's own entries, starting with 0 (the header).
class SharingSession : public StoredSession {
 public:
  SharingSession(SharingSessions& sessions, std::string sessionId)
      : sessions_(sessions), sessionId_(std::move(sessionId)) {}

  [[nodiscard]] const std::string& sessionId() const override { return sessionId_; }
  [[nodiscard]] Result<LoadResult> load(const LoadQuery& query) override;
  [[nodiscard]] Result<std::vector<Entry>> loadOwn(std::uint64_t fromSequence, std::size_t limit) override;
  [[nodiscard]] Result<SessionShape> shape() override;
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() override;
  [[nodiscard]] Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) override;

  /// Changes when existing sequences may refer to different entries: after a rewrite or a repair.
  virtual Result<std::uint64_t> generation() = 0;
  /// Returns where a fork continues from; std::nullopt when the session is not a fork. Called before every append, so
  /// it should be cheap.
  virtual Result<std::optional<ForkOrigin>> origin() = 0;
  virtual Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) = 0;
  virtual Result<std::vector<std::uint64_t>> ownSelect(const Selection& selection) = 0;
  /// Returns the sequences of the control entries of these kinds, ascending.
  virtual Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind> kinds) = 0;
  /// Returns the parents and kinds of the own entries without reading any entry. Parents in a shared history are
  /// kElsewhere.
  virtual Result<SessionOutline> ownOutline() = 0;
  /// Returns the ids of own entries that begin with `prefix`, in log order, at most `limit`.
  virtual Result<std::vector<std::string>> ownIds(std::string_view prefix, std::size_t limit) = 0;
  /// Returns the last `limit` entries of the branch that ends in `leaf`.
  virtual Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) = 0;
  /// Returns the entries at these sequences, in this order. After a retryable Damaged, the caller asks for the
  /// sequences again.
  virtual Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) = 0;
  /// As ownRead(), but replaces names of places, which stand for entries that could not be read, by ids.
  Result<std::vector<Entry>> ownEntries(std::span<const std::uint64_t> sequences);

  [[nodiscard]] SharingSessions& sessions() { return sessions_; }
  /// Returns the history that the session shares if it has this origin. The session keeps it, so that it is not walked
  /// for every call, unless the sessions of the store already keep much.
  Result<std::shared_ptr<const ForkHistory>> historyOf(const std::optional<ForkOrigin>& origin);
  /// Returns that history if it is kept and still current, else null. Asks the sessions in it, but does not walk the
  /// branch.
  [[nodiscard]] std::shared_ptr<const ForkHistory> cachedHistory(const std::optional<ForkOrigin>& origin);
  /// Returns what the session shares now, as far as it exists. For reading.
  Result<std::shared_ptr<const ForkHistory>> history();
  /// Returns the branch that ends in an entry, for a load that reads it in parts. The branch is kept until its end was
  /// read, so that it is not walked again for each part.
  Result<std::shared_ptr<const ForkHistory>> branchInParts(const std::string& leafId);
  /// Drops that branch: its end was read.
  void dropBranch();
  /// Returns the session that this one continues, directly or not, if that session or the entry to continue from is
  /// lost; otherwise an empty text.
  [[nodiscard]] std::string lostSession(const std::optional<ForkOrigin>& origin);

 private:
  SharingSessions& sessions_;
  const std::string sessionId_;

  struct CachedHistories {
    std::mutex mutex;
    std::optional<ForkOrigin> origin;
    std::shared_ptr<const ForkHistory> history;
    std::string leafId;
    std::shared_ptr<const ForkHistory> branch;
  };
  PerProcess<CachedHistories> cached_;
};

/// Runs an operation that asks for sequences and then uses them. Repeats the operation when the log changed in between.
/// That can happen several times while other processes archive the log and restore it.
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
