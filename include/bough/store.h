// SessionStore: a place that keeps sessions. It opens, creates and lists them; Session works with one of them,
// StoreMaintenance looks after them all.
//
//   auto store = SessionStore::open(defaultLocation().value());
//   auto session = (*store)->create({.key = "main:cli:user"});
//   session->append({userText("Hello")});
//
// Threads: every call may come from any thread, at the same time. One store may be opened by many processes at once,
// and more than once by one process.
//
// Lifetime: a Session and a StoreMaintenance stay safe to use after the store's object is gone; their calls then return
// Closed. A Catalog, and whatever takes a `SessionStore&` and keeps it, must not outlive the object.
//
// Failures: besides what each call names, every call may return Closed, ReadOnly, Busy or Io, and over a database
// Unavailable or Timeout. error.h says what to do about each.
//
// The second half of the class has the calls of Session and StoreMaintenance once more, by a session's id: first those
// that the specification names (createSession, appendSessionEntries, …), then the others. Each looks the session up and
// forwards; whoever makes more than one call keeps a Session instead.
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
#include "bough/session.h"
#include "bough/storage_backend.h"
#include "bough/tree.h"

namespace BOUGH_PUBLIC bough {

/// What holds for the store as a whole, for everybody who uses it. Kept beside the sessions: `settings.json` of a
/// folder, a row of a database.
struct StoreSettings {
  /// How long sessions that have no time to live of their own are kept after their last entry; none: forever. Nothing
  /// goes by itself: see Catalog::expired.
  std::optional<std::uint64_t> timeToLiveMs = {};
};

/// How one process uses a store. Nothing of it is stored; the next one may choose otherwise.
struct StoreOptions {
  Durability durability = Durability::Sync;  ///< Of appends that do not name one.
  /// Buffered: a session is flushed by the append that brings it to this many buffered entries (at least 1),
  std::size_t bufferedEntries = 100;
  int bufferedMs = 1000;  ///< or by a thread of the store when its oldest entry has waited this long (at least 1).
  /// Payloads larger than this are stored as attachments, except those of control entries. A load brings them back.
  std::size_t attachmentBytes = std::size_t{256} << 10;
  bool create = true;  ///< Make the folder when it is missing. A database is made by initPostgresStore alone.
  /// Busy after waiting so long for another process; in a database Timeout after waiting so long for the server.
  int lockTimeoutMs = 30'000;
};

/// What SessionStore::open needs when it is given a backend.
struct SessionStoreInit {
  std::shared_ptr<StorageBackend> backend = {};
  StoreOptions options = {};
};

/// What the specification's createSession and branchFromEntry return.
struct SessionHandle {
  std::string sessionId = {};
  int schemaVersion = 0;
};

/// A branch, by the entry it ends in.
struct BranchEnd {
  std::string sessionId = {};
  std::string entryId = {};  ///< Empty: the head.
};

struct DeleteOptions {
  bool detachForks = false;  ///< First give each fork its own copy of what it shares.
};

/// A session to follow.
struct FollowStart {
  std::string sessionId = {};
  std::string position = {};  ///< As SessionCursor::position: the entry to begin after. Empty: from the beginning.
};

/// Entries that were appended to one session, in log order.
struct FollowedEntries {
  std::string sessionId = {};
  std::vector<Entry> entries = {};
};

/// Gives the entries of several sessions as they are appended, by whatever process. Made by
/// SessionStore::followSessions and followAll: one watcher for all of them, no thread. One thread, except for stop().
/// May outlive the store's object; next() then returns Closed.
class StoreFollower {
 public:
  StoreFollower(StoreFollower&&) noexcept;
  StoreFollower& operator=(StoreFollower&&) noexcept;
  ~StoreFollower();

  /// New entries, session by session, at most 256 of each and some 4,000 in all; waits for the first one. Empty when
  /// the time is over (-1: never) or after stop(). A session that is removed gives nothing more.
  ///
  /// Fails with Closed when the store is closed, also during the wait. A session that cannot be read does not keep the
  /// others back: what they have is given first, then its error, and the next call tries it again. Flushes what this
  /// store has buffered, for any session.
  [[nodiscard]] Result<std::vector<FollowedEntries>> next(int timeoutMs);
  /// The id of the last entry that was given of a session, as SessionCursor::position; empty when there is none.
  [[nodiscard]] std::string position(const std::string& sessionId) const;
  /// Ends a waiting next() and all later ones, from any thread.
  void stop();

 private:
  friend class SessionStore;
  struct State;
  explicit StoreFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns where a person's sessions are: `BOUGH_STORE` as it is written, else `$XDG_DATA_HOME/bough`, else
/// `$HOME/.local/share/bough`. A variable that is not an absolute path does not count in the last two. NotFound when
/// none is left. Reads the environment and nothing else; the location need not exist.
[[nodiscard]] Result<std::string> defaultLocation();

/// An open store, used through the pointer that open() gives. It cannot be copied: its end closes the store.
///
/// fork(2): a store in a folder works on in the child, which opens its files again, whatever other threads of the
/// parent were doing. Buffered entries that wait belong to the parent, which writes them; the child begins with none,
/// so a parent that ends after the fork flushes before it. Every other store (in memory, in a database, over a backend
/// of the caller's that does not say otherwise in StorageBackend::isUsableAfterFork) returns Unsupported in the child.
/// A child that was forked inside a callback of the store, or by clone(2) or _Fork() without fork's handlers, must not
/// use the store.
class SessionStore {
 public:
  /// Opens the store at a folder, in a database (`postgresql://…`), or in memory (`memory:`, gone with the object). A
  /// folder that can only be read is opened for reading; its first append returns ReadOnly.
  ///
  /// InvalidArgument: the location is `~` or begins with `~/`, which is for a shell to expand; it is not a folder; or
  /// the database refuses the role, or its clock and this machine's are more than a day apart. NotFound: there is no
  /// store, and StoreOptions::create is false or it is a database. MigrationNeeded, NewerFormat: the database's tables
  /// are of another version of bough; see initPostgresStore. Costs a few looks at the folder whatever the number of
  /// sessions, or one connection and one round trip.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(const std::string& location,
                                                                  const StoreOptions& options = {});
  /// Opens a store over a backend of the caller's, which the store shares. Asks it once whether it can be reached
  /// (StorageBackend::probe). InvalidArgument without a backend, or when its serializer breaks the contract of
  /// EntrySerializer.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(SessionStoreInit init);
  /// Closes the store. What cannot be written is lost, and nobody is told: call close() before to learn of it.
  ~SessionStore();
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  /// Looks a session up. NotFound when there is none, InvalidArgument when that cannot be an id; over a database the
  /// session's first call says so. Costs no read while the session is still open from before (a store in a folder keeps
  /// up to 128 logs open), else one look at its file and its index; no round trip over a database.
  [[nodiscard]] Result<Session> session(const std::string& sessionId);
  /// Makes a session, durably, whatever the store's durability. AlreadyExists when there is one of that id;
  /// InvalidArgument when its id or key breaks a rule (see NewSession). Costs one new file and its syncs, or one round
  /// trip.
  [[nodiscard]] Result<Session> create(const NewSession& session = {});
  /// Returns the ids of all sessions, archived ones included. Costs one listing of the folder, or one query, and the
  /// memory of all ids. Catalog has what is known of each.
  [[nodiscard]] Result<std::vector<std::string>> listSessions();
  /// Verify, repair, migrate, archive; the trash; attachments. Costs nothing.
  [[nodiscard]] StoreMaintenance maintenance() const;

  /// Follows several sessions in one call. NotFound when one of them, or its position, is not there; InvalidArgument
  /// when none is named; Unsupported when the backend cannot watch sessions together. Costs one look at each.
  [[nodiscard]] Result<StoreFollower> followSessions(const std::vector<FollowStart>& sessions);
  /// Follows every session: what is appended from now on, and sessions that are made later from their beginning. One
  /// that cannot be read now is given from its beginning once it can. Unsupported as above. Costs a flush, a list, and
  /// one look at each session to begin with.
  [[nodiscard]] Result<StoreFollower> followAll();

  /// What saveSettings was given last, in any process; read each time. Damaged when it cannot be understood;
  /// NewerFormat when a newer version of bough wrote it.
  [[nodiscard]] Result<StoreSettings> settings();
  /// Replaces all settings, durably. The last one who saves counts: whoever changes one setting loads all before.
  /// ReadOnly when this process may not; Unsupported when the backend keeps none.
  [[nodiscard]] Result<void> saveSettings(const StoreSettings& settings);

  /// Makes everything durable that was appended through this object. The error tells of every session that could not be
  /// written, what was lost and what still waits; it is retryable when anything waits. Costs one append for each
  /// session that has buffered entries, and nothing without them.
  [[nodiscard]] Result<void> flush();
  /// Flushes and refuses all later calls with Closed; followers that wait return it. After a retryable error (a full
  /// disk) the store is still open, and what could not be written waits: close it again. After any other error the
  /// store is closed, and the error says what is lost. A second close meanwhile waits for the first; one of a closed
  /// store succeeds.
  [[nodiscard]] Result<void> close();

  /// For what is derived from the sessions: what changed, and whether the backend answers lists and searches itself.
  /// Null when the backend has no such part. Both belong to the backend and live as long as it; calls go past the
  /// store's buffer, so flush first.
  [[nodiscard]] ChangeFeed* changes() const;
  [[nodiscard]] CatalogSource* catalog() const;

  // The specification's names.
  //
  // `sessionId` is looked up by each call: NotFound and InvalidArgument as session() has them.

  /// As create, for the handle that the specification asks for.
  [[nodiscard]] Result<SessionHandle> createSession(const NewSession& session = {});
  /// As Session::append.
  [[nodiscard]] Result<AppendResult> appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                                          const AppendOptions& options = {});
  /// As Session::load.
  [[nodiscard]] Result<std::vector<Entry>> loadSessionEntries(const std::string& sessionId,
                                                              const LoadOptions& options = {});
  /// As Session::entry.
  [[nodiscard]] Result<Entry> loadEntry(const std::string& sessionId, const std::string& entryId);
  /// As Session::fork, without opening the new session.
  [[nodiscard]] Result<SessionHandle> branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                                      const NewSession& session = {});
  /// As Session::conversation: without an entry, to the head.
  [[nodiscard]] Result<std::vector<Entry>> buildConversationHistory(const std::string& sessionId,
                                                                    const std::string& entryId = {});
  /// As StoreMaintenance::migrate.
  [[nodiscard]] Result<MigrationResult> migrateSession(const std::string& sessionId);

  // Reading, by a session's id: the calls of Session with these names; loadEntriesAt is entriesAt, openCursor is
  // cursor, loadTree is tree, sessionState is state, exportSession is exportLines, readOwnEntries is readOwn.

  [[nodiscard]] Result<std::vector<Entry>> loadEntriesAt(const std::string& sessionId,
                                                         const std::vector<Sequence>& sequences);
  [[nodiscard]] Result<SessionCursor> openCursor(const std::string& sessionId, const std::string& position = {});
  [[nodiscard]] Result<SessionFollower> follow(const std::string& sessionId, const std::string& position = {});
  [[nodiscard]] Result<SessionTree> loadTree(const std::string& sessionId);
  [[nodiscard]] Result<Sequence> sequenceOf(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<std::vector<std::string>> findEntryIds(const std::string& sessionId, const std::string& prefix,
                                                              std::size_t limit);
  [[nodiscard]] Result<std::vector<SessionLabel>> labels(const std::string& sessionId);
  [[nodiscard]] Result<SessionState> sessionState(const std::string& sessionId);
  [[nodiscard]] Result<void> exportSession(const std::string& sessionId,
                                           const std::function<bool(std::string_view)>& line);
  [[nodiscard]] Result<void> readOwnEntries(const std::string& sessionId, std::uint64_t fromSequence,
                                            std::uint64_t limit,
                                            const std::function<void(std::uint64_t sequence, Entry& entry)>& use);
  /// As Session::diff, of two branches of this store.
  [[nodiscard]] Result<BranchDiff> diffBranches(const BranchEnd& left, const BranchEnd& right);

  // Writing, by a session's id: the calls of Session with these names; labelEntry is label, restoreLabel is
  // moveHeadToLabel, redactEntry is redact.

  [[nodiscard]] Result<AppendResult> moveHead(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<AppendResult> labelEntry(const std::string& sessionId, const std::string& entryId,
                                                const std::string& name);
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> restoreLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& sessionId, const std::string& title);
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const std::string& sessionId, const BranchSummary& summary);
  [[nodiscard]] Result<AppendResult> redactEntry(const std::string& sessionId, const std::string& entryId,
                                                 const std::string& by, const std::string& reason);

  // Upkeep, by a session's id, a name in the trash or a digest: the calls of StoreMaintenance with these names without
  // `Session`, except that deleteSession is remove. trashSession moves one; StoreMaintenance::trash moves many at once.

  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId);
  [[nodiscard]] Result<void> deleteSession(const std::string& sessionId, const DeleteOptions& options = {});
  [[nodiscard]] Result<TrashedSession> trashSession(const std::string& sessionId, const DeleteOptions& options = {});
  [[nodiscard]] Result<std::vector<TrashedSession>> listTrash();
  [[nodiscard]] Result<void> exportTrashed(const std::string& trashId,
                                           const std::function<bool(std::string_view)>& line);
  [[nodiscard]] Result<void> restoreSession(const std::string& trashId);
  [[nodiscard]] Result<std::uint64_t> emptyTrash(const std::vector<std::string>& trashIds);
  [[nodiscard]] Result<ArchiveResult> archiveSession(const std::string& sessionId);
  [[nodiscard]] Result<VerifyReport> verifySession(const std::string& sessionId);
  [[nodiscard]] Result<RepairReport> repairSession(const std::string& sessionId);
  [[nodiscard]] Result<std::string> putAttachment(std::string_view bytes);
  [[nodiscard]] Result<std::string> readAttachment(const std::string& sha256);
  [[nodiscard]] Result<std::vector<std::string>> findUnusedAttachments();
  [[nodiscard]] Result<std::size_t> removeUnusedAttachments(const std::vector<std::string>& sha256s);

  /// What the backend writes entries with. Decodes the lines that exportLines gives; lives as long as the backend.
  [[nodiscard]] const EntrySerializer& serializer() const;

  // What has changed: the calls of ChangeFeed, which also answer where the backend has none.

  /// ChangeFeed::folder; empty without a feed.
  [[nodiscard]] std::string folder() const;
  /// ChangeFeed::since, after a flush; without a feed everything may have changed.
  [[nodiscard]] Result<ChangeSet> changesSince(std::string_view token);
  /// ChangeFeed::groupOf; without a feed all sessions are in group 0.
  [[nodiscard]] std::uint32_t changeGroup(std::string_view sessionId) const;
  /// ChangeFeed::stamp, after a flush of the session; without a feed its number of entries and its tail.
  [[nodiscard]] Result<std::string> sessionStamp(const std::string& sessionId);

  struct Impl;  ///< Not part of the interface.

 private:
  explicit SessionStore(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// Makes a backend that keeps sessions in a folder of JSONL files (docs/format.md), for SessionStore::open. Of the
/// options, `create` and `lockTimeoutMs` are its own. Finishes an erasure that was interrupted. Fails as
/// SessionStore::open does. `serializer` must outlive the backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makeFileBackend(
    const std::string& folder, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string&, const StoreOptions&,
                                                                      const EntrySerializer&&) = delete;

/// A session file that is outside of any store.
struct SessionFileBackend {
  std::shared_ptr<StorageBackend> backend = {};  ///< Holds that one session. Every call that writes returns ReadOnly.
  std::string sessionId = {};                    ///< As the file's name says it.
};
/// Opens a session file to read it, without an index beside it: the first read scans all of it. InvalidArgument when
/// the name is not that of a session file: <id>.jsonl, <id>.jsonl.zst or <id>.jsonl.gz. NotFound when its folder is not
/// there; when the file is not there, the first call says so.
[[nodiscard]] Result<SessionFileBackend> openSessionFile(const std::string& path);

/// Makes a backend that keeps sessions in memory, as long as it lives. It has trash and attachments, and no archive.
/// `serializer` must outlive the backend.
[[nodiscard]] std::shared_ptr<StorageBackend> makeMemoryBackend(
    const EntrySerializer& serializer = jsonEntrySerializer());
std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer&&) = delete;

// Stores in PostgreSQL (docs/scale.md). SessionStore::open takes their URL like any other location.

/// Makes a backend that keeps sessions in PostgreSQL: `postgresql://…` as libpq takes it, and `schema=NAME` among its
/// options. Connects with the first call and keeps up to 8 connections; calls beyond that number wait for one.
/// InvalidArgument when the URL cannot be read; Unsupported when libpq is not installed. Of `options`, `lockTimeoutMs`
/// limits each call with all its repetitions. `serializer` must outlive the backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makePostgresBackend(
    const std::string& url, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());

/// What initPostgresStore found and left.
struct PostgresSchema {
  int versionBefore = 0;  ///< 0: there was no store.
  int version = 0;
};
/// Creates the tables of a store in PostgreSQL, or brings them up to date; can be repeated, also by several at once.
/// NewerFormat when a newer version of bough made them; ReadOnly when the role may not create them; InvalidArgument
/// when the schema holds another application's tables, or the database's encoding cannot hold every text (UTF8 can).
[[nodiscard]] Result<PostgresSchema> initPostgresStore(const std::string& url);
/// Gives a role of the database the rights of a `reader`, a `writer` (reads and appends) or a `keeper` (also throws
/// away and erases), in one transaction. InvalidArgument for other rights or a role that does not exist; ReadOnly when
/// the caller's own role may not give them.
[[nodiscard]] Result<void> grantPostgresStore(const std::string& url, const std::string& role,
                                              const std::string& rights);

/// Whether a location is a database and not a folder.
[[nodiscard]] bool isPostgresLocation(std::string_view location);
/// Returns a location without its password, for people and logs. Never fails.
[[nodiscard]] std::string shownLocation(const std::string& location);

// Copying between stores of any kind.
//
// These work below SessionStore, on the backends: what a side's own store has buffered is not seen, so flush it first.
// Sessions are read and written a few hundred entries at a time; memory does not grow with them. One thread a side.

struct KnownTrash;

/// A store, with the backend below it.
struct StoreSide {
  std::shared_ptr<StorageBackend> backend = {};
  std::unique_ptr<SessionStore> store = {};
  std::shared_ptr<KnownTrash> trash = {};  ///< As syncSession read it last.

  /// As SessionStore::open.
  [[nodiscard]] static Result<StoreSide> open(const std::string& location, const StoreOptions& options = {});
};

struct CopiedSession {
  std::string sessionId = {};
  std::uint64_t presentEntries = 0;  ///< Were there before, and are equal in content.
  std::uint64_t copiedEntries = 0;
};

/// Copies a session, and before it those whose history it shares; the results are in that order. What is there already
/// is compared entry by entry, and the copy goes on after it; so a copy that was interrupted, or whose source has
/// grown, is repeated. An attachment that the target has lost is stored there again.
///
/// Conflict: the target holds something else; syncSession joins such sessions. IdConflict: an entry was erased in one
/// of the two. Damaged: something of the source, or an attachment, cannot be read; what was copied before it stays.
/// NotFound: the source has no such session. Costs one read of both, however little is new.
[[nodiscard]] Result<std::vector<CopiedSession>> copySession(StoreSide& from, StoreSide& to,
                                                             const std::string& sessionId);

struct SyncedSession {
  std::string sessionId = {};
  std::uint64_t toLeft = 0;  ///< Entries that the left store got.
  std::uint64_t toRight = 0;
  std::vector<std::string> notes = {};  ///< For people: what both sides had moved, and which one counts now.
};

/// Gives each of two stores the entries of a session that only the other has; afterwards both have the same. A session
/// that one of them lacks is made there, and so are those whose history it shares. Where both have moved the head, a
/// label, the title, the pin or the time to live, the newer one counts in both, and the other stays reachable by its
/// id. An attachment that one of them has lost comes back from the other.
///
/// IdConflict: both hold an entry of one id with other content, or one of them has erased it; no entry was added.
/// Conflict: the two are different sessions of one id, or somebody went on appending during five tries. Damaged:
/// something cannot be read. NotFound: neither has the session. Costs a read of both from the beginning, and memory for
/// each entry after the first difference, of the side that has fewer.
[[nodiscard]] Result<std::vector<SyncedSession>> syncSession(StoreSide& left, StoreSide& right,
                                                             const std::string& sessionId);

}  // namespace BOUGH_PUBLIC bough
