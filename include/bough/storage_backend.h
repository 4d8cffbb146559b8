// What a place that keeps sessions must be able to do. It speaks of entries and batches; how they are stored is its own
// affair. bough ships three: plain files, memory, and (past one machine) PostgreSQL. All run the same golden scripts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/entry_serializer.h"
#include "bough/error.h"
#include "bough/outline.h"
#include "bough/report.h"

namespace bough {

/// What is known of a session without reading its entries.
struct SessionState {
  std::string sessionId;
  std::uint64_t entryCount = 0;  ///< Own entries, the header among them.
  std::string tailId;            ///< The last entry in log order.
  std::string headId;            ///< The entry the next turn continues from; empty before the first.
  std::optional<ForkOrigin> origin;
  int format = 0;
  bool archived = false;
  std::uint64_t bytes = 0;
  std::uint64_t trailingBytes = 0;  ///< Behind the last complete batch: torn, or being written at this moment.
  std::uint64_t problemCount = 0;   ///< Places that could not be read; verifySession lists them.
};

/// The entries that a batch must be checked against beyond the session's own: the shared history of a fork. None when
/// it holds no such entry.
using SharedHistory = std::function<Result<std::optional<Entry>>(std::string_view entryId)>;

/// One batch, as it reaches a backend. Attachments are stored already.
struct AppendRequest {
  std::string sessionId;
  std::vector<Entry> entries;
  std::optional<std::string> expectedTail;
  /// What origin() said, and the history that it leads to; none when the session is no fork.
  std::optional<ForkOrigin> origin;
  SharedHistory shared;
};

struct AppendResult {
  std::string sessionId;
  std::string lastAppendedEntryId;
  std::size_t appendedCount = 0;
  std::size_t duplicateCount = 0;
  std::uint64_t tornBytes = 0;     ///< What an interrupted write had left; moved to <session>.torn before this append.
  std::uint64_t problemCount = 0;  ///< Places of the log that cannot be read and are skipped; `verify` lists them.
};

/// A stretch of a branch, root first.
struct BranchPart {
  std::vector<std::uint64_t> sequences;
  /// The parent of the first one, when it is not an entry of this session; empty at a root.
  std::string continuesAt;
};

/// Which entries select() looks for.
struct Selection {
  std::uint64_t fromSequence = 0;
  std::size_t limit = SIZE_MAX;
  std::string type;          ///< Empty for all.
  bool newestFirst = false;  ///< Count the limit from the end; the result is in that order.
};

struct ArchiveSizes {
  std::uint64_t plainBytes = 0;
  std::uint64_t packedBytes = 0;
};

/// What may have changed in a store since a token was given out.
struct ChangeSet {
  bool all = false;                   ///< Anything may have; the other members say nothing.
  bool names = false;                 ///< Sessions may have been made or removed.
  std::vector<std::uint32_t> groups;  ///< Sessions of these groups may have changed; see StorageBackend::changeGroup.
  std::string token;                  ///< For the next time; bytes that only the backend understands.

  [[nodiscard]] bool none() const { return !all && !names && groups.empty(); }
};

/// A session in the trash.
struct TrashedSession {
  std::string trashId;  ///< Names it there: a session can lie in it more than once.
  std::string sessionId;
  std::uint64_t removedMs = 0;
  std::uint64_t bytes = 0;
};

/// Whose history a session shares, as far as that can be seen.
struct SeenOrigin {
  std::optional<ForkOrigin> origin;
  /// False when its header cannot be read: then it may be a fork of any session, whatever is seen of it.
  bool sure = true;
};

/// Wakes who waits for a session to change.
class ChangeWatcher {
 public:
  virtual ~ChangeWatcher() = default;
  /// True when the session may have changed or wake() was called, false when the time is over; -1 waits for ever.
  virtual Result<bool> wait(int timeoutMs) = 0;
  /// Ends a wait, from any thread.
  virtual void wake() = 0;
};

/// Something that is held until it is destroyed.
class Hold {
 public:
  virtual ~Hold() = default;
};

/// Keeps sessions. Within a session entries are numbered by their sequence, from 0 (the header) upwards without gaps,
/// in the order in which they were accepted. Payloads are exactly the bytes that were appended. All calls may come from
/// any thread; appends to one session are serialized by the backend, across processes too.
class StorageBackend {
 public:
  virtual ~StorageBackend() = default;

  /// For messages.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// What its entries are written with. Sessions of an older schema are read, and written once they are migrated.
  [[nodiscard]] virtual const EntrySerializer& serializer() const = 0;
  /// True when a child process of fork(2) may go on with this object. It must then use no lock, file or connection of its
  /// parent. A store over any other backend returns Unsupported in the child.
  [[nodiscard]] virtual bool isUsableAfterFork() const { return false; }
  /// Fails when the storage cannot be reached, or is of a newer layout; ReadOnly when it can only be read.
  virtual Result<void> probe() = 0;
  virtual Result<std::vector<std::string>> listSessions() = 0;

  /// What was said about the store as a whole: a small text of the store's, empty when there is none. A backend that
  /// keeps none need not have these.
  virtual Result<std::string> settings() { return std::string(); }
  virtual Result<void> saveSettings(std::string_view text) {
    (void)text;
    return fail(ErrorCode::Unsupported, "this kind of store keeps no settings");
  }

  /// A folder of this machine for what is derived from the sessions; empty when there is none.
  [[nodiscard]] virtual std::string folder() const = 0;

  /// What may have changed since `token` was given out; everything when the token is empty or not understood. What was
  /// acknowledged before the call is never left out, except what other programs wrote past bough.
  virtual Result<ChangeSet> changesSince(std::string_view token) = 0;
  /// The group a session belongs to for good: changes are noted group by group.
  [[nodiscard]] virtual std::uint32_t changeGroup(std::string_view sessionId) const = 0;
  /// A text that differs whenever what is stored of a session does. Reads no entry. NotFound when there is none.
  virtual Result<std::string> stamp(const std::string& sessionId) = 0;

  /// Stores a new session whose first batch is `entries`, the header first. AlreadyExists when there is one.
  virtual Result<void> createSession(const std::string& sessionId, const std::vector<Entry>& entries) = 0;
  virtual Result<SessionState> state(const std::string& sessionId) = 0;
  virtual Result<Entry> header(const std::string& sessionId) = 0;
  /// Where a fork continues from; none when the session is no fork. Asked before every append, so it should be cheap.
  virtual Result<std::optional<ForkOrigin>> origin(const std::string& sessionId) = 0;
  /// The same of any session that is there, however damaged it is.
  virtual Result<SeenOrigin> seenOrigin(const std::string& sessionId) = 0;
  /// Appends a batch durably, all or nothing: when this returns success it survives a loss of power. Leaves `request`
  /// as it is. A retryable Damaged means that the session's origin is another one by now: ask for it again.
  virtual Result<AppendResult> append(AppendRequest& request) = 0;

  /// A number that is another one when sequences may mean other entries than before: after a rewrite or a repair.
  virtual Result<std::uint64_t> numbering(const std::string& sessionId) = 0;
  virtual Result<std::optional<std::uint64_t>> sequenceOf(const std::string& sessionId, std::string_view entryId) = 0;
  virtual Result<std::vector<std::uint64_t>> select(const std::string& sessionId, const Selection& selection) = 0;
  /// The sequences of all control entries, ascending.
  virtual Result<std::vector<std::uint64_t>> controls(const std::string& sessionId) = 0;
  /// The session's own entries as columns, cheaply: no entry is read. Parents of a shared history are kElsewhere.
  virtual Result<SessionOutline> outline(const std::string& sessionId) = 0;
  /// The ids of own entries that begin with `prefix`, in log order, at most `limit`.
  virtual Result<std::vector<std::string>> findIds(const std::string& sessionId, std::string_view prefix,
                                                   std::size_t limit) = 0;
  /// The last `limit` entries of the branch that ends in `leaf`.
  virtual Result<BranchPart> branch(const std::string& sessionId, std::uint64_t leaf, std::size_t limit) = 0;
  /// The entries at these sequences, in this order. A retryable Damaged means: ask for the sequences again.
  virtual Result<std::vector<Entry>> read(const std::string& sessionId, std::span<const std::uint64_t> sequences) = 0;
  /// Gives the session's stored lines, in order, to `line`, until it returns false.
  virtual Result<void> exportLines(const std::string& sessionId, const std::function<bool(std::string_view)>& line) = 0;
  /// Gives what was moved out of any session's log and kept, be that session in the trash, to `use`, in parts: torn
  /// bytes, files that a migration replaced. What stands across the end of a part stands whole in the next one, up to
  /// 128 bytes. A backend that keeps none need not have it.
  virtual Result<void> exportSetAside(const std::function<void(std::string_view)>& use) {
    (void)use;
    return {};
  }
  virtual Result<std::unique_ptr<ChangeWatcher>> watch(const std::string& sessionId) = 0;

  /// Of each copy of a session that is not read and holds something else: what to say of it.
  virtual Result<std::vector<std::string>> otherCopies(const std::string& /*sessionId*/) { return {}; }
  virtual Result<VerifyReport> verify(const std::string& sessionId) = 0;
  virtual Result<RepairReport> repair(const std::string& sessionId) = 0;
  virtual Result<MigrationResult> migrate(const std::string& sessionId) = 0;
  /// Compresses a session; it is read as before, and the next append brings it back.
  virtual Result<ArchiveSizes> archive(const std::string& sessionId) = 0;
  /// Replaces all entries of a session at once; used to give a fork its own copy of what it shares. Conflict when the
  /// tail is not `expectedTail`: what was appended meanwhile would be lost.
  virtual Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                               const std::string& expectedTail) = 0;
  /// Removes a session, provided that `allowed` says so while nobody can append to it or fork it.
  virtual Result<void> remove(const std::string& sessionId, const std::function<Result<void>()>& allowed) = 0;
  /// Moves a session to the trash with all that belongs to it, under the same condition.
  virtual Result<TrashedSession> trash(const std::string& sessionId, const std::function<Result<void>()>& allowed) = 0;
  /// The one thrown away last comes first.
  virtual Result<std::vector<TrashedSession>> listTrash() = 0;
  /// A second copy that holds something else counts as one more problem.
  virtual Result<SessionState> trashedState(const std::string& trashId) = 0;
  virtual Result<SeenOrigin> trashedOrigin(const std::string& trashId) = 0;
  virtual Result<void> exportTrashedLines(const std::string& trashId,
                                          const std::function<bool(std::string_view)>& line) = 0;
  /// Brings it back under its id; AlreadyExists when another session has that now.
  virtual Result<void> restore(const std::string& trashId) = 0;
  /// Removes it from the trash for good.
  virtual Result<void> removeTrashed(const std::string& trashId) = 0;
  /// Keeps a session from being removed while the result lives, and makes its entry durable: another session is about
  /// to name it.
  virtual Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) = 0;

  /// Keeps removeUnusedAttachments away while the result lives: hold it from putAttachment until the append is done.
  virtual Result<std::unique_ptr<Hold>> holdAttachments() = 0;
  /// Stores bytes durably under their SHA-256 (64 hex digits).
  virtual Result<void> putAttachment(const std::string& sha256, std::string_view bytes) = 0;
  virtual Result<std::string> getAttachment(const std::string& sha256) = 0;
  /// Their SHA-256s, and the names of what an interrupted writing left.
  virtual Result<std::vector<std::string>> listAttachments() = 0;
  /// Removes these attachments while nobody can be adding any. `stillUnused` is asked again for each under the lock.
  virtual Result<std::size_t> removeAttachments(const std::vector<std::string>& sha256s,
                                                const std::function<Result<bool>(const std::string&)>& stillUnused) = 0;
};

}  // namespace bough
