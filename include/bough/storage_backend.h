// The interface to a place that keeps sessions. It speaks of entries and batches; how they are stored is up to the
// backend. bough has three backends: plain files, memory and PostgreSQL. All backends run the same golden scripts.
//
// There are two levels: a StorageBackend holds sessions, and a StoredSession is one of them. Parts that a store may
// lack (trash, attachments, maintenance, a feed of changes, a catalog of its own) are separate interfaces. When a part
// is missing, its accessor returns null and the caller gets Unsupported.
//
// The interface also suits a database: one round trip can answer each call. A load resolves shared history, redactions
// and attachments itself. An append is data that a single statement can check. Conditions replace callbacks under a
// lock.
//
// A backend receives batches whose large payloads are already attachments; nothing else has been checked. A backend
// must complete each batch (ids, parents, times) and check it as Session::append documents; answer calls from any
// thread; return errors, and throw nothing except std::bad_alloc; keep every promise of append() and create() after a
// crash at any point; and use the codes that each call names, because callers decide by them. Any call may also return
// Unavailable, Timeout, ReadOnly, NoSpace, Busy or Io. Pointers and references that a call receives are borrowed until
// it returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"

namespace BOUGH_PUBLIC bough {

class CatalogSource;  // catalog.h

/// What is known of a session without reading its entries.
struct SessionState {
  std::string sessionId = {};
  std::uint64_t entryCount = 0;           ///< The session's own entries, including the header.
  std::string tailId = {};                ///< The last entry in log order.
  std::string headId = {};                ///< Where the next turn continues; empty before the first entry.
  std::optional<ForkOrigin> origin = {};  ///< Where a fork continues from; std::nullopt when the session is not a fork.
  int format = 0;                         ///< The schema version in its header; 0 when there is no header.
  bool archived = false;                  ///< The log is compressed; the next append unpacks it.
  std::uint64_t bytes = 0;                ///< Size of the log, unpacked.
  std::uint64_t trailingBytes = 0;        ///< After the last complete batch: torn, or being written now.
  /// True when the trailing bytes may belong to a complete batch that was damaged: someone is writing now, or a catalog
  /// or fork that may have counted them could not be asked. The question is asked again later.
  bool trailingInDoubt = false;
  std::uint64_t problemCount = 0;  ///< Places that could not be read; verify lists them.
  std::uint64_t lostPayloads = 0;  ///< Entries loaded here whose attachment is missing or damaged.
  /// The session that this session continues, directly or indirectly, when that session or the entry to continue from
  /// is lost. The rest is still shown. If the session itself is lost, nothing can be appended until
  /// SessionMaintenance::detachRest.
  std::string lostSession = {};
};

/// Which entries of a session to load. The order of a session is: its header, the entries that it shares, its own
/// entries. The sequence of an entry is its number in this order, from 0 (the header).
struct LoadOptions {
  std::uint64_t fromSequence = 0;     ///< The first sequence; with `branch`, the first place on it (the root is 0).
  std::size_t limit = SIZE_MAX;       ///< At most this many of the selected entries, from the start.
  std::size_t limitBytes = SIZE_MAX;  ///< Stop after the entry that brings the payload total to this size.
  std::optional<std::size_t> last = {};    ///< Only the last n of what the other options, also `limit`, select.
  std::optional<std::string> branch = {};  ///< Only the branch that ends in this entry, root first; empty: the head.
  std::string type = {};                   ///< Only entries of this type.
  std::vector<std::string> types = {};     ///< Only entries of one of these types. With `type`: both must match.
  bool showRedacted = false;               ///< Return redacted payloads as they were stored: for audits.
};

/// A place in the order of a session. It stays valid when the session grows, and a rewrite of the session is detected.
struct SessionPosition {
  std::string entryId = {};      ///< The last entry that was returned; empty at the beginning.
  std::uint64_t next = 0;        ///< The sequence after it, valid in `generation`.
  std::uint64_t generation = 0;  ///< From StoredSession::load; 0: find the entry by its id.
};

/// What load() looks for. Set at most one of `after`, `ids` and `sequences`; without them, `options` selects the
/// entries. An empty `ids` or `sequences` counts as not set. With `ids` or `sequences`, leave `options` at their
/// defaults.
struct LoadQuery {
  LoadOptions options = {};
  std::optional<SessionPosition> after = {};  ///< Entries after this position; `options` may only set limits.
  std::vector<std::string> ids = {};          ///< Entries with these ids; ids that do not exist are left out.
  std::vector<std::uint64_t> sequences = {};  ///< Entries at these sequences, in this order.
  bool asStored = false;                      ///< Do not hide redacted payloads, and do not read attachments back.
};

/// What load() found, all of it in memory.
struct LoadResult {
  std::vector<Entry> entries = {};
  std::vector<std::uint64_t> sequences = {};  ///< With `ids`: the sequence of each entry.
  SessionPosition end = {};                   ///< With `after`: the position after the last entry.
};

/// A label: a name for an entry, and a snapshot that costs one line.
struct SessionLabel {
  std::string name = {};
  std::string entryId = {};
  std::string timestamp = {};  ///< When the label was set.
  std::string sessionId = {};  ///< The session that set it. For a label on an entry that a fork shares, this may be
                               ///< another session than the fork.
};

/// A session as the tree sees it, in the session's order.
struct SessionShape {
  /// The entries that this session shares with one other session, root first.
  struct SharedPart {
    std::string sessionId = {};
    std::vector<std::uint64_t> sequences = {};  ///< In that session's own log, ascending.
  };
  SessionOutline outline = {};
  std::vector<SharedPart> shared = {};  ///< The oldest session first. Their entries have the sequences from 1 on.
  struct NamedEntry {
    std::string name = {};
    std::uint32_t sequence = kElsewhere;
  };
  std::vector<NamedEntry> labels = {};
};

/// One batch, as a backend receives it. Its attachments are already stored.
struct AppendRequest {
  std::vector<Entry> entries = {};
  std::optional<std::string> expectedTail = {};  ///< Conflict unless this is the tail; std::nullopt: not checked.
  std::optional<std::uint64_t> turn = {};  ///< Conflict when StoredSession::beginTurn has returned a greater number.
};

/// A turn that holds its session for some time.
struct TurnLease {
  std::uint64_t turn = 0;     ///< 0: begin a turn, unless the lease of another turn is running.
  std::uint64_t leaseMs = 0;  ///< From now; 0 ends the lease.
};

/// The result of an append.
struct AppendResult {
  std::string sessionId = {};
  std::string lastAppendedEntryId = {};  ///< Of the batch's last entry, even when that entry was already stored.
  std::size_t appendedCount = 0;         ///< New entries.
  std::size_t duplicateCount = 0;        ///< Entries that were already stored, with the same content.
  std::uint64_t tornBytes = 0;     ///< Left by an interrupted write; moved to <session>.torn before this append.
  std::uint64_t problemCount = 0;  ///< Places of the log that cannot be read and are skipped; `verify` lists them.
};

/// The size of a log, unpacked and packed.
struct ArchiveSizes {
  std::uint64_t plainBytes = 0;
  std::uint64_t packedBytes = 0;
};

/// What may have changed in a store since a token was issued.
struct ChangeSet {
  bool all = false;                        ///< Anything may have changed; ignore the other members.
  bool names = false;                      ///< Sessions that are not in `ids` may have been created or removed.
  std::vector<std::string> ids = {};       ///< These sessions may have been created or removed.
  std::vector<std::uint32_t> groups = {};  ///< Sessions of these groups may have changed; see ChangeFeed::groupOf.
  std::string token = {};                  ///< Pass it to the next call; only the backend understands it.

  /// Returns true when nothing has changed.
  [[nodiscard]] bool none() const { return !all && !names && ids.empty() && groups.empty(); }
};

/// A session to create.
struct SessionCreation {
  std::string sessionId = {};
  std::vector<Entry> entries = {};        ///< The first batch, header first; the header also names the origin.
  std::optional<ForkOrigin> origin = {};  ///< NotFound unless that entry exists; InvalidArgument when a fork cannot
                                          ///< continue from it. The entry must not disappear before the fork exists.
};

/// The sessions that a watcher has seen change.
struct ChangedSessions {
  bool all = false;  ///< Any session may have changed; which ones is not known.
  std::vector<std::string> sessionIds = {};
};

/// Wakes a thread that waits for sessions to change.
class ChangeWatcher {
 public:
  virtual ~ChangeWatcher() = default;
  /// Waits for a change. Returns true when a session may have changed or wake() was called, and false after the
  /// timeout; -1 waits forever. A change since watching began, or since the last wait, ends the wait at once. It may
  /// also return true without a change. Call it from one thread.
  [[nodiscard]] virtual Result<bool> wait(int timeoutMs) = 0;
  /// Returns the sessions that may have changed since the last call, or since watching began. Call it from the thread
  /// of wait().
  [[nodiscard]] virtual ChangedSessions takeChanged() { return {.all = true}; }
  /// Ends the current wait, or the next one when no wait is running. Any thread may call it.
  virtual void wake() = 0;
};

/// Something that is held until this object is destroyed or its process ends.
class Hold {
 public:
  virtual ~Hold() = default;
};

/// One session of a backend, opened by StorageBackend::open. Calls may come from any thread and do not look up the
/// session again. Payloads are exactly the bytes that were appended. A call fails with NotFound when the session was
/// removed since it was opened, and with Damaged (retryable) when the session was replaced while the call was reading.
/// Must not outlive its backend.
class StoredSession {
 public:
  virtual ~StoredSession() = default;

  [[nodiscard]] virtual const std::string& sessionId() const = 0;
  /// Same as Session::state, including everything that other processes have appended until now.
  [[nodiscard]] virtual Result<SessionState> state() = 0;
  /// Returns the session's first entry, as stored. Damaged when it cannot be read.
  [[nodiscard]] virtual Result<Entry> header() = 0;
  /// Appends a batch durably, all or nothing: after success the batch survives a loss of power. Checks the batch
  /// against the session and the history that it shares: the tail, duplicates, parents, and the entries that control
  /// entries name. A call that fails leaves `request` unchanged; after success its content is undefined. Fails with the
  /// codes of Session::append. If all entries of a batch are duplicates, the append succeeds, whatever the tail and the
  /// turn are.
  [[nodiscard]] virtual Result<AppendResult> append(AppendRequest& request) = 0;
  /// Same as Session::beginTurn; durable, and serialized with appends. A backend that does not number turns returns
  /// Unsupported.
  [[nodiscard]] virtual Result<std::uint64_t> beginTurn();
  /// Same as Session::leaseTurn and Session::renewTurn; returns the number of the turn.
  [[nodiscard]] virtual Result<std::uint64_t> leaseTurn(const TurnLease& lease);
  /// Returns the entries that a query selects, with redactions applied and attachments read back. NotFound when the
  /// branch or the position names an entry that the session does not have, or when a sequence is past its end. Sees
  /// every batch either whole or not at all.
  [[nodiscard]] virtual Result<LoadResult> load(const LoadQuery& query) = 0;
  /// Returns the session's own entries, at most `limit`, from `fromSequence` of its own log (0: the header). Does not
  /// hide redacted payloads. When an attachment is missing or damaged, the payload is the reference to it. May return
  /// fewer entries when they are large, but returns none only at the end.
  [[nodiscard]] virtual Result<std::vector<Entry>> loadOwn(std::uint64_t fromSequence, std::size_t limit) = 0;
  /// Returns the session as the tree sees it. No entry is read except labels and entries without a known parent.
  [[nodiscard]] virtual Result<SessionShape> shape() = 0;
  /// Returns all current labels, sorted by name.
  [[nodiscard]] virtual Result<std::vector<SessionLabel>> labels() = 0;
  /// Returns the ids that begin with `prefix`, in the session's order, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) = 0;
  /// Passes the session's stored lines, in order, to `line`, until `line` returns false.
  [[nodiscard]] virtual Result<void> exportLines(const std::function<bool(std::string_view)>& line) = 0;
  /// Starts to watch this session. An append after this call ends a wait.
  [[nodiscard]] virtual Result<std::unique_ptr<ChangeWatcher>> watch() = 0;
};

/// Sessions that were moved to the trash and can be restored. Calls may come from any thread.
class SessionTrash {
 public:
  virtual ~SessionTrash() = default;
  /// Moves sessions to the trash with everything that belongs to them, each independently; the results are in the order
  /// of the requests. HasForks when a session that stays shares the history of one that would be moved; a session and
  /// its forks may be moved together. Costs one look at the store's sessions, however many are moved.
  [[nodiscard]] virtual std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) = 0;
  /// Returns all sessions in the trash, most recent first.
  [[nodiscard]] virtual Result<std::vector<TrashedSession>> list() = 0;
  /// Same as StoredSession::exportLines.
  [[nodiscard]] virtual Result<void> exportLines(const std::string& trashId,
                                                 const std::function<bool(std::string_view)>& line) = 0;
  /// Restores a session under its id. AlreadyExists when another session has that id now; NotFound when the session is
  /// a fork and what it continues is not in the store.
  [[nodiscard]] virtual Result<void> restore(const std::string& trashId) = 0;
  /// Removes sessions from the trash forever, and returns how many bytes were freed. HasForks when a session that stays
  /// shares the history of one that would be removed.
  [[nodiscard]] virtual Result<std::uint64_t> empty(const std::vector<std::string>& trashIds) = 0;
  /// Of these sessions, which were once in the store, returns those that were lost without bough: they are not in the
  /// store, not in the trash, and were not removed forever. Empty for backends where this cannot happen.
  [[nodiscard]] virtual Result<std::vector<std::string>> missing(std::vector<std::string> sessionIds) {
    (void)sessionIds;
    return std::vector<std::string>();
  }
};

/// Stores bytes once, under their SHA-256 (64 hex digits).
class AttachmentStore {
 public:
  virtual ~AttachmentStore() = default;
  /// Prevents removeUnused from running while the result lives. Hold it from put() until the append is done.
  [[nodiscard]] virtual Result<std::unique_ptr<Hold>> hold() = 0;
  /// Stores bytes durably under their digest, which the caller has computed. Bytes that are already stored are not
  /// written again.
  [[nodiscard]] virtual Result<void> put(const std::string& sha256, std::string_view bytes) = 0;
  /// Returns the bytes. NotFound when they are missing, Damaged when they have another digest; a load then returns the
  /// entry as `unreadable`. Any other error fails the load.
  [[nodiscard]] virtual Result<std::string> get(const std::string& sha256) = 0;
  /// Returns the attachments that no entry of any session names, in the trash or not, and the names of files that an
  /// interrupted put() left. An entry names an attachment when it contains its 64 hex digits. Damaged when this cannot
  /// be determined.
  [[nodiscard]] virtual Result<std::vector<std::string>> unused() = 0;
  /// Removes those of the given attachments that are still unused, while no one can add any; returns how many.
  [[nodiscard]] virtual Result<std::size_t> removeUnused(const std::vector<std::string>& sha256s) = 0;
};

/// Upkeep of single sessions. StoreMaintenance has the same calls and documents what they do and when they fail. A call
/// that a backend does not need returns Unsupported; repair then finds nothing to do.
class SessionMaintenance {
 public:
  virtual ~SessionMaintenance() = default;
  /// Changes nothing. Defects are in the report, not an error.
  [[nodiscard]] virtual Result<VerifyReport> verify(const std::string& sessionId) = 0;
  /// Gives a fork its own copy of the history that it shares.
  [[nodiscard]] virtual Result<void> detach(const std::string& forkId) = 0;
  /// Does the same for a fork whose shared history is lost: the part that is left becomes its own. Entries whose parent
  /// is lost become roots of their own branches.
  [[nodiscard]] virtual Result<void> detachRest(const std::string& forkId) { return detach(forkId); }
  /// The default finds nothing to do in a session that verify can open.
  [[nodiscard]] virtual Result<RepairReport> repair(const std::string& sessionId);
  /// Brings a session of an older schema to the current one.
  [[nodiscard]] virtual Result<MigrationResult> migrate(const std::string& sessionId);
  /// Compresses a session. It can be read as before, and the next append unpacks it.
  [[nodiscard]] virtual Result<ArchiveSizes> archive(const std::string& sessionId);
  /// Removes payloads forever; see StoreMaintenance::erase.
  [[nodiscard]] virtual Result<ErasureReport> erase(const Erasure& erasure);
};

/// Tells what has changed, for a catalog that is kept beside the sessions. Calls may come from any thread.
class ChangeFeed {
 public:
  virtual ~ChangeFeed() = default;
  /// Returns a folder on this machine for data that is derived from the sessions; empty when there is none.
  [[nodiscard]] virtual std::string folder() const = 0;
  /// Returns what may have changed since `token` was issued; everything when the token is empty or not understood.
  /// Changes that were acknowledged before the call are always included, except changes that other programs made
  /// without bough. The call should be cheap: every catch-up of a catalog starts with it.
  [[nodiscard]] virtual Result<ChangeSet> since(std::string_view token) = 0;
  /// Returns the group that a session belongs to, which never changes. Changes are recorded per group.
  [[nodiscard]] virtual std::uint32_t groupOf(std::string_view sessionId) const = 0;
  /// Returns a text that changes whenever the stored data of a session changes. Reads no entry. NotFound when there is
  /// no such session.
  [[nodiscard]] virtual Result<std::string> stamp(const std::string& sessionId) = 0;
};

/// Keeps sessions. Calls may come from any thread. The backend serializes appends to one session, also across
/// processes.
class StorageBackend {
 public:
  virtual ~StorageBackend() = default;

  /// Returns the name of the store for messages: a path, or an address without its password.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Returns the serializer that entries are written with. Sessions of an older schema can be read, and written to
  /// after they are migrated.
  [[nodiscard]] virtual const EntrySerializer& serializer() const = 0;
  /// Returns true when a child process of fork(2) may continue to use this object. The backend must then use no lock,
  /// file or connection of the parent. A store over any other backend returns Unsupported in the child.
  [[nodiscard]] virtual bool isUsableAfterFork() const { return false; }
  /// Fails when the storage cannot be reached or has a newer layout. ReadOnly means that the storage can only be read;
  /// the store is opened nevertheless. SessionStore::open calls this once.
  [[nodiscard]] virtual Result<void> probe() = 0;
  /// Returns the ids of all sessions, including archived ones, without the sessions in the trash.
  [[nodiscard]] virtual Result<std::vector<std::string>> listSessions() = 0;
  /// Creates a session, durably, whole or not at all. AlreadyExists when a session has that id.
  [[nodiscard]] virtual Result<void> create(const SessionCreation& session) = 0;
  /// Looks up a session. NotFound when there is none. A backend for which this is another round trip may leave the
  /// lookup to the session's first call.
  [[nodiscard]] virtual Result<std::shared_ptr<StoredSession>> open(const std::string& sessionId) = 0;
  /// Returns the sessions that directly continue the history of this one.
  [[nodiscard]] virtual Result<std::vector<std::string>> forksOf(const std::string& sessionId) = 0;
  /// Removes a session forever, under the conditions of SessionTrash::trash. Forks in the trash count as well.
  [[nodiscard]] virtual Result<void> remove(const Removal& removal) = 0;

  /// Watches these sessions, or the whole store when the list is empty, including sessions that are created later. The
  /// default returns Unsupported; SessionStore::followSessions and followAll then return Unsupported as well.
  [[nodiscard]] virtual Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds);

  /// Appends one batch to each of several sessions; the results are in the order of the requests. The default appends
  /// one batch after the other.
  struct SessionAppend {
    StoredSession* session = nullptr;
    AppendRequest* request = nullptr;
  };
  [[nodiscard]] virtual std::vector<Result<AppendResult>> append(const std::vector<SessionAppend>& batches);

  /// Returns the settings of the store as a whole: a small text that only the store understands; empty when there are
  /// none.
  [[nodiscard]] virtual Result<std::string> settings() { return std::string(); }
  /// Replaces that text, durably. The default returns Unsupported.
  [[nodiscard]] virtual Result<void> saveSettings(std::string_view text);

  // Parts that a backend may lack. Each lives as long as the backend and is always the same object.
  [[nodiscard]] virtual SessionTrash* trash() { return nullptr; }
  [[nodiscard]] virtual AttachmentStore* attachments() { return nullptr; }
  [[nodiscard]] virtual SessionMaintenance* maintenance() { return nullptr; }
  [[nodiscard]] virtual ChangeFeed* changes() { return nullptr; }
  /// Answers lists, search and usage in the backend itself; without it, catalog.db answers them.
  [[nodiscard]] virtual CatalogSource* catalog() { return nullptr; }
};

}  // namespace BOUGH_PUBLIC bough
