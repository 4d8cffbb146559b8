// A session whose backend keeps each session's own entries apart and lets a fork name what it shares. A backend that
// can read a session's own entries derives from this class and gets the rest of a StoredSession: entries, tree and
// labels across forks, redactions, attachments.
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

/// Which entries ownSelect() looks for.
struct Selection {
  std::uint64_t fromSequence = 0;
  std::size_t limit = SIZE_MAX;
  std::string type = {};     ///< Empty for all.
  bool newestFirst = false;  ///< Count the limit from the end; the result is in that order.
};

/// loadOwn() stops after the entry that brings the payloads to this.
inline constexpr std::size_t kOwnPartBytes = std::size_t{8} << 20;

/// Finds the other sessions of a store, and what is stored beside them. Lives longer than its sessions.
class SharingSessions {
 public:
  virtual ~SharingSessions() = default;
  virtual Result<std::shared_ptr<SharingSession>> session(const std::string& sessionId) = 0;
  virtual Result<std::string> attachment(const std::string& sha256) = 0;
  /// Whether there is such a session, without opening it.
  virtual bool has(const std::string& sessionId) = 0;
  /// Those that were met when entries were loaded.
  [[nodiscard]] LostPayloads& lostPayloads() { return *lostPayloads_; }
  /// How many bytes the histories take that sessions keep. It may outlive this.
  [[nodiscard]] const std::shared_ptr<std::atomic<std::size_t>>& keptBytes() const { return keptBytes_; }

 private:
  PerProcess<LostPayloads> lostPayloads_;
  const std::shared_ptr<std::atomic<std::size_t>> keptBytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Sequences of the calls that begin with `own` number the session's own entries, from 0 (the header).
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
  /// Where a fork continues from; none when the session is not a fork. Asked before every append, so it should be
  /// cheap.
  virtual Result<std::optional<ForkOrigin>> origin() = 0;
  virtual Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) = 0;
  virtual Result<std::vector<std::uint64_t>> ownSelect(const Selection& selection) = 0;
  /// The sequences of the control entries of these kinds, ascending.
  virtual Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind> kinds) = 0;
  /// Own entries as columns; no entry is read. Parents in a shared history are kElsewhere.
  virtual Result<SessionOutline> ownOutline() = 0;
  /// The ids of own entries that begin with `prefix`, in log order, at most `limit`.
  virtual Result<std::vector<std::string>> ownIds(std::string_view prefix, std::size_t limit) = 0;
  /// The last `limit` entries of the branch that ends in `leaf`.
  virtual Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) = 0;
  /// The entries at these sequences, in this order. A retryable Damaged means: ask for the sequences again.
  virtual Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) = 0;
  /// The same; what they know by its place, because it could not be read, is named by its id.
  Result<std::vector<Entry>> ownEntries(std::span<const std::uint64_t> sequences);

  [[nodiscard]] SharingSessions& sessions() { return sessions_; }
  /// What the session shares if it has this origin. It is kept, so that it is not walked again for every call, unless
  /// the sessions of the store keep much already.
  Result<std::shared_ptr<const ForkHistory>> historyOf(const std::optional<ForkOrigin>& origin);
  /// The same when it is known already and still right, else null: its parts are asked, but nothing is walked.
  [[nodiscard]] std::shared_ptr<const ForkHistory> keptHistory(const std::optional<ForkOrigin>& origin);
  /// What the session shares now, as far as it is there: for reading.
  Result<std::shared_ptr<const ForkHistory>> history();
  /// The branch that ends in an entry, for a load that wants a part of it: kept until its end was asked for, so that
  /// who reads a long branch part by part does not have it walked again for each.
  Result<std::shared_ptr<const ForkHistory>> branchInParts(const std::string& leafId);
  /// The end of that branch was given.
  void dropBranch();
  /// The session that this one continues, directly or not, when it or the entry to continue is lost; else empty.
  [[nodiscard]] std::string lostSession(const std::optional<ForkOrigin>& origin);

 private:
  SharingSessions& sessions_;
  const std::string sessionId_;

  struct KnownHistory {
    std::mutex mutex;
    std::optional<ForkOrigin> origin;
    std::shared_ptr<const ForkHistory> history;
    std::string leafId;
    std::shared_ptr<const ForkHistory> branch;
  };
  PerProcess<KnownHistory> known_;
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
