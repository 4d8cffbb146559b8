// The seam to a place that keeps sessions. It speaks of entries and batches; how they are stored is the backend's own
// affair. bough ships three: plain files, memory and PostgreSQL. Every backend runs the same golden scripts.
//
// Two levels: a StorageBackend holds sessions, a StoredSession is one of them. What a store may lack (trash,
// attachments, maintenance, a feed of changes, a catalog of its own) is a part of its own: the accessor returns null,
// and the caller gets Unsupported.
//
// Right for a database, too: each call can be answered in one round trip. A load resolves shared history, redactions
// and attachments itself; an append is data that one statement can judge; conditions take the place of callbacks under
// a lock.
//
// What a backend of your own gets: batches whose large payloads are attachments already, and nothing else that was
// checked. What it must do: complete a batch (ids, parents, times) and judge it as Session::append says; answer from
// any thread; return errors and throw nothing except std::bad_alloc; keep every promise of append() and create() after
// a crash at any point; use the codes that a call names, because callers decide by them. Any call may also return
// Unavailable, Timeout, ReadOnly, NoSpace, Busy or Io. Pointers and references that a call is given are borrowed until
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
  std::uint64_t entryCount = 0;           ///< Own entries, including the header.
  std::string tailId = {};                ///< The last entry in log order.
  std::string headId = {};                ///< The entry the next turn continues from; empty before the first.
  std::optional<ForkOrigin> origin = {};  ///< What it continues; none when it is not a fork.
  int format = 0;                         ///< The schema version in its header; 0 when there is none.
  bool archived = false;                  ///< Compressed; the next append unpacks it.
  std::uint64_t bytes = 0;                ///< Of its log, unpacked.
  std::uint64_t trailingBytes = 0;        ///< After the last complete batch: torn, or being written at this moment.
  /// Whether the trailing bytes may be entries of a complete batch that was damaged: somebody is writing, or it could
  /// not be asked whether a catalog or a fork has counted them. It is asked again later.
  bool trailingInDoubt = false;
  std::uint64_t problemCount = 0;  ///< Places that could not be read; verify lists them.
  std::uint64_t lostPayloads = 0;  ///< Entries that were loaded here without their attachment: missing, or damaged.
  /// The session that this one continues, directly or not, when it or the entry to continue is lost. What is left is
  /// shown; without the session itself nothing can be appended until SessionMaintenance::detachRest.
  std::string lostSession = {};
};

/// Which entries of a session to load. A session's order is: its header, what it shares, its own entries. An entry's
/// sequence is its number in this order, from 0 (the header).
struct LoadOptions {
  std::uint64_t fromSequence = 0;     ///< From this sequence on; with `branch`, from this place on it (the root is 0).
  std::size_t limit = SIZE_MAX;       ///< The first n of what the other options leave.
  std::size_t limitBytes = SIZE_MAX;  ///< Stop after the entry that brings the payload total to this size.
  std::optional<std::size_t> last = {};    ///< Only the last n of what the other options, `limit` too, leave.
  std::optional<std::string> branch = {};  ///< Only the branch that ends in this entry, root first; empty: the head's.
  std::string type = {};                   ///< Only entries of this type.
  std::vector<std::string> types = {};     ///< Only entries of one of these types, and of `type` where both are set.
  bool showRedacted = false;               ///< Return payloads as they were stored, redacted or not: for audits.
};

/// A place in a session's order that stays right when the session grows, and is noticed when it was rewritten.
struct SessionPosition {
  std::string entryId = {};      ///< The last entry that was given; empty at the beginning.
  std::uint64_t next = 0;        ///< The sequence after it, in `generation`.
  std::uint64_t generation = 0;  ///< As StoredSession::load returned it; 0: find the entry by its id.
};

/// What load() looks for. At most one of `after`, `ids` and `sequences` is set; without any, `options` say what. Empty
/// `ids` and `sequences` count as not set: they do not ask for nothing. With `ids` and `sequences` leave `options`
/// alone.
struct LoadQuery {
  LoadOptions options = {};
  std::optional<SessionPosition> after = {};  ///< The entries after this position; `options`: limits only.
  std::vector<std::string> ids = {};          ///< The entries of these ids; those that are not there are left out.
  std::vector<std::uint64_t> sequences = {};  ///< The entries at these sequences, in this order.
  bool asStored = false;                      ///< Neither hide redacted payloads nor bring attachments back.
};

/// What load() found. All of it is in memory.
struct LoadResult {
  std::vector<Entry> entries = {};
  std::vector<std::uint64_t> sequences = {};  ///< With `ids`: of each entry.
  SessionPosition end = {};                   ///< With `after`: after the last entry.
};

/// A name for an entry: a snapshot that costs one line.
struct SessionLabel {
  std::string name = {};
  std::string entryId = {};
  std::string timestamp = {};  ///< When it was given.
  std::string sessionId = {};  ///< By which session: a fork also has those that others give to what it shares.
};

/// A session as a tree sees it, in the session's order.
struct SessionShape {
  /// The entries of another session that this one shares, root first.
  struct SharedPart {
    std::string sessionId = {};
    std::vector<std::uint64_t> sequences = {};  ///< In that session's own log, ascending.
  };
  SessionOutline outline = {};
  std::vector<SharedPart> shared = {};  ///< The oldest session first. Their entries are sequences 1 and up.
  struct NamedEntry {
    std::string name = {};
    std::uint32_t sequence = kElsewhere;
  };
  std::vector<NamedEntry> labels = {};
};

/// One batch, as it reaches a backend. Attachments are stored already.
struct AppendRequest {
  std::vector<Entry> entries = {};
  std::optional<std::string> expectedTail = {};  ///< Conflict unless this is the tail; none: not compared.
  std::optional<std::uint64_t> turn = {};  ///< Conflict when StoredSession::beginTurn has returned a greater number.
};

/// A turn that holds its session for a time.
struct TurnLease {
  std::uint64_t turn = 0;     ///< 0: begins a turn, unless the lease of another one runs.
  std::uint64_t leaseMs = 0;  ///< From now on; 0 ends the lease.
};

/// What an append did.
struct AppendResult {
  std::string sessionId = {};
  std::string lastAppendedEntryId = {};  ///< Of the batch's last entry, also where that was stored before.
  std::size_t appendedCount = 0;         ///< Entries that are new.
  std::size_t duplicateCount = 0;        ///< Entries that were stored before, with the same content.
  std::uint64_t tornBytes = 0;     ///< What an interrupted write had left; moved to <session>.torn before this append.
  std::uint64_t problemCount = 0;  ///< Places of the log that cannot be read and are skipped; `verify` lists them.
};

/// How large a log is unpacked and packed.
struct ArchiveSizes {
  std::uint64_t plainBytes = 0;
  std::uint64_t packedBytes = 0;
};

/// What may have changed in a store since a token was given out.
struct ChangeSet {
  bool all = false;                        ///< Anything may have; the other members say nothing.
  bool names = false;                      ///< Sessions may have been made or removed that `ids` does not name.
  std::vector<std::string> ids = {};       ///< These may have been made or removed.
  std::vector<std::uint32_t> groups = {};  ///< Sessions of these groups may have changed; see ChangeFeed::groupOf.
  std::string token = {};                  ///< For the next time; bytes that only the backend understands.

  /// Whether nothing has changed.
  [[nodiscard]] bool none() const { return !all && !names && ids.empty() && groups.empty(); }
};

/// A session to create.
struct SessionCreation {
  std::string sessionId = {};
  std::vector<Entry> entries = {};        ///< Its first batch, the header first; the header names the origin too.
  std::optional<ForkOrigin> origin = {};  ///< NotFound unless that entry is there; InvalidArgument when a fork
                                          ///< cannot continue from it. It stays there until the fork exists.
};

/// What a watcher saw.
struct ChangedSessions {
  bool all = false;  ///< Any session may have changed; it is not known which.
  std::vector<std::string> sessionIds = {};
};

/// Wakes who waits for sessions to change.
class ChangeWatcher {
 public:
  virtual ~ChangeWatcher() = default;
  /// Waits. True when a session may have changed or wake() was called, false when the time is over; -1 waits forever.
  /// A change since watching began, or since the last wait, ends it at once. True without a change is allowed. One
  /// thread.
  [[nodiscard]] virtual Result<bool> wait(int timeoutMs) = 0;
  /// Which sessions may have changed since the last call, or since watching began. From the thread of wait().
  [[nodiscard]] virtual ChangedSessions takeChanged() { return {.all = true}; }
  /// Ends a wait, or the next one when none is under way, from any thread.
  virtual void wake() = 0;
};

/// A lease: something that is held until it is destroyed, or until its holder is gone.
class Hold {
 public:
  virtual ~Hold() = default;
};

/// One session of a backend. Opened by StorageBackend::open; calls may come from any thread and look up no id. Payloads
/// are exactly the bytes that were appended. A call fails with NotFound when the session was removed since, and with
/// Damaged, retryable, when it was replaced while the call was reading. Must not outlive its backend.
class StoredSession {
 public:
  virtual ~StoredSession() = default;

  [[nodiscard]] virtual const std::string& sessionId() const = 0;
  /// As Session::state: with all that others have appended until now.
  [[nodiscard]] virtual Result<SessionState> state() = 0;
  /// The session's first entry, as stored. Damaged when it cannot be read.
  [[nodiscard]] virtual Result<Entry> header() = 0;
  /// Appends a batch durably, all or nothing: when this returns success it survives a loss of power. Judges the batch
  /// against the session and what it shares: the tail, duplicates, parents, what control entries name. Leaves `request`
  /// as it is, unless it succeeds; what is in it then is not defined. Fails with the codes of Session::append. A batch
  /// of which every entry is a duplicate succeeds, whatever the tail and the turn.
  [[nodiscard]] virtual Result<AppendResult> append(AppendRequest& request) = 0;
  /// As Session::beginTurn; durable, and serialized with appends. A backend without it returns Unsupported.
  [[nodiscard]] virtual Result<std::uint64_t> beginTurn();
  /// As Session::leaseTurn and Session::renewTurn; returns the turn's number.
  [[nodiscard]] virtual Result<std::uint64_t> leaseTurn(const TurnLease& lease);
  /// The entries that a query asks for, with redactions applied and attachments brought back. NotFound when the branch
  /// or the position names an entry that the session does not have, or one of the sequences is past its end. Sees every
  /// batch whole or not at all.
  [[nodiscard]] virtual Result<LoadResult> load(const LoadQuery& query) = 0;
  /// Own entries from `fromSequence` of the session's own log on (0: the header), at most `limit` of them, redacted or
  /// not. A payload whose attachment is missing or damaged is the reference to it. May give fewer, of large entries,
  /// but none only at the end.
  [[nodiscard]] virtual Result<std::vector<Entry>> loadOwn(std::uint64_t fromSequence, std::size_t limit) = 0;
  /// The session as a tree sees it; no entry is read except labels and entries without a known parent.
  [[nodiscard]] virtual Result<SessionShape> shape() = 0;
  /// All labels in force, sorted by name.
  [[nodiscard]] virtual Result<std::vector<SessionLabel>> labels() = 0;
  /// The ids that begin with `prefix`, in the session's order, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) = 0;
  /// Gives the session's stored lines, in order, to `line`, until it returns false.
  [[nodiscard]] virtual Result<void> exportLines(const std::function<bool(std::string_view)>& line) = 0;
  /// Begins to watch this session. What is appended after this call ends a wait.
  [[nodiscard]] virtual Result<std::unique_ptr<ChangeWatcher>> watch() = 0;
};

/// Sessions that were thrown away and can be brought back. Calls may come from any thread.
class SessionTrash {
 public:
  virtual ~SessionTrash() = default;
  /// Moves sessions to the trash with all that belongs to them, each by itself; the results are in the order of the
  /// requests. HasForks when a session that stays shares the history of one that would go; a session and its forks may
  /// go together. Costs one look at the store's sessions, however many go.
  [[nodiscard]] virtual std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) = 0;
  /// Most recent first.
  [[nodiscard]] virtual Result<std::vector<TrashedSession>> list() = 0;
  /// As StoredSession::exportLines.
  [[nodiscard]] virtual Result<void> exportLines(const std::string& trashId,
                                                 const std::function<bool(std::string_view)>& line) = 0;
  /// Brings a session back under its id; AlreadyExists when another session has that id now, NotFound when it is a fork
  /// and what it continues is not in the store.
  [[nodiscard]] virtual Result<void> restore(const std::string& trashId) = 0;
  /// Removes sessions from the trash forever; returns how many bytes came back. HasForks when one that stays shares the
  /// history of one that would go.
  [[nodiscard]] virtual Result<std::uint64_t> empty(const std::vector<std::string>& trashIds) = 0;
  /// Of sessions that were in the store and are not any more, those that are not in the trash and were not removed for
  /// good either: they went past bough. None where that cannot be.
  [[nodiscard]] virtual Result<std::vector<std::string>> missing(std::vector<std::string> sessionIds) {
    (void)sessionIds;
    return std::vector<std::string>();
  }
};

/// Bytes that are stored once, under their SHA-256 (64 hex digits).
class AttachmentStore {
 public:
  virtual ~AttachmentStore() = default;
  /// Keeps removeUnused away while the result lives: hold it from put() until the append is done.
  [[nodiscard]] virtual Result<std::unique_ptr<Hold>> hold() = 0;
  /// Stores bytes durably under their digest, which the caller has computed. Those that are there already are not
  /// written again.
  [[nodiscard]] virtual Result<void> put(const std::string& sha256, std::string_view bytes) = 0;
  /// Returns the bytes. NotFound when they are missing, Damaged when they have another digest: a load then shows the
  /// entry as `unreadable`. Any other error fails the load.
  [[nodiscard]] virtual Result<std::string> get(const std::string& sha256) = 0;
  /// Those that no entry of any session names, in the trash or not, and the names of what an interrupted put() left. An
  /// entry names one by holding its 64 hex digits. Damaged when that cannot be known.
  [[nodiscard]] virtual Result<std::vector<std::string>> unused() = 0;
  /// Removes those of the given ones that are still unused, while nobody can be adding any; returns how many.
  [[nodiscard]] virtual Result<std::size_t> removeUnused(const std::vector<std::string>& sha256s) = 0;
};

/// Upkeep of single sessions; StoreMaintenance has the same calls and says what each does and when it fails. What a
/// backend has no need of returns Unsupported; repair then finds nothing to do.
class SessionMaintenance {
 public:
  virtual ~SessionMaintenance() = default;
  /// Changes nothing. What is wrong is in the report, not an error.
  [[nodiscard]] virtual Result<VerifyReport> verify(const std::string& sessionId) = 0;
  /// Gives a fork its own copy of what it shares.
  [[nodiscard]] virtual Result<void> detach(const std::string& forkId) = 0;
  /// The same for a fork whose shared history is lost: what is left becomes its own. Entries whose parent is lost begin
  /// branches of their own.
  [[nodiscard]] virtual Result<void> detachRest(const std::string& forkId) { return detach(forkId); }
  /// The default finds nothing to do in a session that verify finds.
  [[nodiscard]] virtual Result<RepairReport> repair(const std::string& sessionId);
  /// Brings a session of an older schema to the present one.
  [[nodiscard]] virtual Result<MigrationResult> migrate(const std::string& sessionId);
  /// Compresses a session; it is read as before, and the next append brings it back.
  [[nodiscard]] virtual Result<ArchiveSizes> archive(const std::string& sessionId);
  /// Removes payloads for good; see StoreMaintenance::erase.
  [[nodiscard]] virtual Result<ErasureReport> erase(const Erasure& erasure);
};

/// Says what has changed, for a catalog that is kept beside the sessions. Calls may come from any thread.
class ChangeFeed {
 public:
  virtual ~ChangeFeed() = default;
  /// A folder of this machine for what is derived from the sessions; empty when there is none.
  [[nodiscard]] virtual std::string folder() const = 0;
  /// What may have changed since `token` was given out; everything when the token is empty or not understood. What was
  /// acknowledged before the call is never left out, except what other programs wrote past bough. Should cost little:
  /// every catch-up of a catalog begins with it.
  [[nodiscard]] virtual Result<ChangeSet> since(std::string_view token) = 0;
  /// The group a session belongs to forever: changes are noted group by group.
  [[nodiscard]] virtual std::uint32_t groupOf(std::string_view sessionId) const = 0;
  /// A text that differs whenever what is stored of a session does. Reads no entry. NotFound when there is none.
  [[nodiscard]] virtual Result<std::string> stamp(const std::string& sessionId) = 0;
};

/// Keeps sessions. Calls may come from any thread; appends to one session are serialized by the backend, across
/// processes too.
class StorageBackend {
 public:
  virtual ~StorageBackend() = default;

  /// What the store is called in messages to people: a path, an address without its password.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// What its entries are written with. Sessions of an older schema are read, and written once they are migrated.
  [[nodiscard]] virtual const EntrySerializer& serializer() const = 0;
  /// True when a child process of fork(2) may go on with this object. It must then use no lock, file or connection of
  /// its parent. A store over any other backend returns Unsupported in the child.
  [[nodiscard]] virtual bool isUsableAfterFork() const { return false; }
  /// Fails when the storage cannot be reached, or is of a newer layout; ReadOnly when it can only be read: the store is
  /// opened all the same. Called once, by SessionStore::open.
  [[nodiscard]] virtual Result<void> probe() = 0;
  /// The ids of all sessions, archived ones too, without those in the trash.
  [[nodiscard]] virtual Result<std::vector<std::string>> listSessions() = 0;
  /// Stores a new session, durably, whole or not at all. AlreadyExists when there is one of that id.
  [[nodiscard]] virtual Result<void> create(const SessionCreation& session) = 0;
  /// Looks a session up. NotFound when there is none; a backend for which that is another round trip may leave it to
  /// the session's first call.
  [[nodiscard]] virtual Result<std::shared_ptr<StoredSession>> open(const std::string& sessionId) = 0;
  /// The sessions that continue this one's history, directly.
  [[nodiscard]] virtual Result<std::vector<std::string>> forksOf(const std::string& sessionId) = 0;
  /// Removes a session forever, under the conditions of SessionTrash::trash. What is in the trash counts as a fork,
  /// too.
  [[nodiscard]] virtual Result<void> remove(const Removal& removal) = 0;

  /// Watches these sessions; all of the store when there are none, also those that are made later. The default returns
  /// Unsupported: SessionStore::followSessions and followAll then do, too.
  [[nodiscard]] virtual Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds);

  /// One batch for each of several sessions; the results are in the order of the requests. The default appends them one
  /// after the other.
  struct SessionAppend {
    StoredSession* session = nullptr;
    AppendRequest* request = nullptr;
  };
  [[nodiscard]] virtual std::vector<Result<AppendResult>> append(const std::vector<SessionAppend>& batches);

  /// What was said about the store as a whole: a small text of the store's, empty when there is none.
  [[nodiscard]] virtual Result<std::string> settings() { return std::string(); }
  /// Replaces that text, durably. The default returns Unsupported.
  [[nodiscard]] virtual Result<void> saveSettings(std::string_view text);

  // The parts that a backend may lack. Each lives as long as the backend, and is the same object each time.
  [[nodiscard]] virtual SessionTrash* trash() { return nullptr; }
  [[nodiscard]] virtual AttachmentStore* attachments() { return nullptr; }
  [[nodiscard]] virtual SessionMaintenance* maintenance() { return nullptr; }
  [[nodiscard]] virtual ChangeFeed* changes() { return nullptr; }
  /// Answers lists, search and usage where the sessions are; without it catalog.db does.
  [[nodiscard]] virtual CatalogSource* catalog() { return nullptr; }
};

}  // namespace BOUGH_PUBLIC bough
