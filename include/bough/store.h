// SessionStore: a place that keeps sessions. It opens, creates and lists them. Session works with one session;
// StoreMaintenance does the upkeep of the whole store.
//
//   auto store = SessionStore::open(defaultLocation().value());
//   auto session = (*store)->create({.key = "main:cli:user"});
//   session->append({userText("Hello")});
//
// Threads: any thread may make any call at any time. Many processes may have one store open at the same time, and one
// process may open it more than once.
//
// Lifetime: a Session and a StoreMaintenance are safe to use after the store object was destroyed; their calls then
// return Closed. A Catalog, and every other object that keeps the `SessionStore&` it was given, must not outlive the
// store.
//
// Failures: besides the errors that each call names, every call may return Closed, ReadOnly, Busy or Io, and over a
// database Unavailable or Timeout. error.h says what to do about each.
//
// The second half of the class offers the calls of Session and StoreMaintenance by session id: first the calls that the
// specification names (createSession, appendSessionEntries, …), then the others. Each of them looks up the session and
// forwards the call. To make more than one call on a session, keep a Session instead.
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

/// Settings of the store as a whole, shared by everyone who uses the store. They are kept beside the sessions: in
/// `settings.json` of a folder, or in a row of a database.
struct StoreSettings {
  /// How long a session without a time to live of its own is kept after its last entry; std::nullopt: forever. Nothing
  /// is removed automatically; see Catalog::expired.
  std::optional<std::uint64_t> timeToLiveMs = {};
};

/// How one process uses a store. These options are not stored; another process may choose other ones.
struct StoreOptions {
  Durability durability = Durability::Sync;  ///< Of appends that do not choose one.
  /// With Durability::Buffered: flush a session when it has this many buffered entries (at least 1),
  std::size_t bufferedEntries = 100;
  int bufferedMs = 1000;  ///< or when its oldest buffered entry is this old (at least 1). A thread does this.
  /// Payloads larger than this are stored as attachments, except those of control entries. A load reads them back.
  std::size_t attachmentBytes = std::size_t{256} << 10;
  bool create = true;  ///< Create the folder when it is missing. Only initPostgresStore creates a database.
  /// Return Busy after waiting this long for another process; over a database, Timeout after waiting this long for the
  /// server.
  int lockTimeoutMs = 30'000;
};

/// The arguments of SessionStore::open for a store over a backend.
struct SessionStoreInit {
  std::shared_ptr<StorageBackend> backend = {};
  StoreOptions options = {};
};

/// The result of createSession and branchFromEntry, as the specification has it.
struct SessionHandle {
  std::string sessionId = {};
  int schemaVersion = 0;
};

/// A branch, named by the entry that it ends in.
struct BranchEnd {
  std::string sessionId = {};
  std::string entryId = {};  ///< Empty: the head.
};

struct DeleteOptions {
  bool detachForks = false;  ///< First give each fork its own copy of the history that it shares.
};

/// A session to follow, and the position to start from.
struct FollowStart {
  std::string sessionId = {};
  std::string position = {};  ///< The entry to start after, from SessionCursor::position. Empty: the beginning.
};

/// Entries that were appended to one session, in log order.
struct FollowedEntries {
  std::string sessionId = {};
  std::vector<Entry> entries = {};
};

/// Returns the entries of several sessions as they are appended, by any process. Made by SessionStore::followSessions
/// and followAll, with one watcher for all sessions and no thread. Use it from one thread; only stop() may come from
/// another. May outlive the store object; next() then returns Closed.
class StoreFollower {
 public:
  StoreFollower(StoreFollower&&) noexcept;
  StoreFollower& operator=(StoreFollower&&) noexcept;
  ~StoreFollower();

  /// Waits for new entries and returns them, session by session: at most 256 of each session and about 4,000 in all.
  /// Empty after the timeout (-1: wait forever) or after stop(). A session that was removed produces no more entries.
  ///
  /// Fails with Closed when the store is closed, even during the wait. A session that cannot be read does not delay the
  /// others: their entries are returned first, then its error, and the next call tries that session again. Flushes
  /// everything that this store has buffered, for all sessions.
  [[nodiscard]] Result<std::vector<FollowedEntries>> next(int timeoutMs);
  /// Returns the id of the last entry of a session that next() returned, in the form of SessionCursor::position; empty
  /// when there is none.
  [[nodiscard]] std::string position(const std::string& sessionId) const;
  /// Ends a next() that is waiting, and all later ones. Any thread may call it.
  void stop();

 private:
  friend class SessionStore;
  struct State;
  explicit StoreFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns the location of the user's sessions: `BOUGH_STORE` as it is set, otherwise `$XDG_DATA_HOME/bough`, otherwise
/// `$HOME/.local/share/bough`. XDG_DATA_HOME and HOME are ignored unless they are absolute paths. NotFound when none of
/// the three can be used. Reads only the environment; the location need not exist.
[[nodiscard]] Result<std::string> defaultLocation();

/// An open store, used through the pointer that open() returns. It cannot be copied; its destructor closes the store.
///
/// fork(2): a store in a folder can be used in the child. The child opens the files again, whatever other threads of
/// the parent were doing. Buffered entries belong to the parent, which writes them; the child starts with none, so a
/// parent that exits after the fork must flush before it. Every other store (in memory, in a database, or over a
/// backend that does not return true from StorageBackend::isUsableAfterFork) returns Unsupported in the child. A child
/// must not use the store when it was forked inside a callback of the store, or by clone(2) or _Fork(), which skip the
/// fork handlers.
class SessionStore {
 public:
  /// Opens the store at a folder, in a database (`postgresql://…`), or in memory (`memory:`; its sessions are lost with
  /// the object). A folder without write permission is opened for reading; the first append to it returns ReadOnly.
  ///
  /// InvalidArgument: the location is `~` or begins with `~/`, which the shell should have expanded; it is not a
  /// folder; the database refuses the role; or the clocks of the database and this machine differ by more than a day.
  /// NotFound: there is no store, and either StoreOptions::create is false or the location is a database.
  /// MigrationNeeded, NewerFormat: the tables of the database belong to another version of bough; see
  /// initPostgresStore. Costs a few lookups in the folder for any number of sessions, or one connection and one round
  /// trip.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(const std::string& location,
                                                                  const StoreOptions& options = {});
  /// Opens a store over a backend that the caller provides and shares with the store. Calls StorageBackend::probe once
  /// to find out whether the backend can be reached. InvalidArgument when there is no backend, or when its serializer
  /// breaks the rules of EntrySerializer.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(SessionStoreInit init);
  /// Closes the store. Buffered entries that cannot be written are lost, and no error reports it; call close() first to
  /// get the error.
  ~SessionStore();
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  /// Looks up a session. NotFound when there is none; InvalidArgument when the id is not valid. Over a database, the
  /// first call of the Session returns these errors instead. Costs no read while the session's log is still open (a
  /// store in a folder keeps up to 128 logs open), otherwise one look at its file and its index; no round trip over a
  /// database.
  [[nodiscard]] Result<Session> session(const std::string& sessionId);
  /// Creates a session, durably, whatever the durability of the store. AlreadyExists when a session has that id;
  /// InvalidArgument when the id or the key breaks a rule (see NewSession). Costs one new file and its syncs, or one
  /// round trip.
  [[nodiscard]] Result<Session> create(const NewSession& session = {});
  /// Returns the ids of all sessions, including archived ones. Costs one listing of the folder, or one query, and
  /// memory for all ids. Use Catalog for what is known about each session.
  [[nodiscard]] Result<std::vector<std::string>> listSessions();
  /// Returns the maintenance calls of this store: verify, repair, migrate, archive; the trash; attachments. Costs
  /// nothing.
  [[nodiscard]] StoreMaintenance maintenance() const;

  /// Follows several sessions with one call. NotFound when a session or its position does not exist; InvalidArgument
  /// when the list is empty; Unsupported when the backend cannot watch several sessions at once. Costs one lookup per
  /// session.
  [[nodiscard]] Result<StoreFollower> followSessions(const std::vector<FollowStart>& sessions);
  /// Follows every session: existing ones from now on, new ones from their beginning. A session that cannot be read now
  /// is followed from its beginning once it can be read. Unsupported as for followSessions. Costs a flush, one listing,
  /// and one lookup per session at the start.
  [[nodiscard]] Result<StoreFollower> followAll();

  /// Returns the settings that saveSettings stored last, in any process. Reads them each time. Damaged when they cannot
  /// be understood; NewerFormat when a newer version of bough wrote them.
  [[nodiscard]] Result<StoreSettings> settings();
  /// Replaces all settings, durably. The last writer wins, so to change one setting, load all of them first. ReadOnly
  /// when this process may not write them; Unsupported when the backend keeps no settings.
  [[nodiscard]] Result<void> saveSettings(const StoreSettings& settings);

  /// Makes everything durable that was appended through this object. The error names every session that could not be
  /// written, what was lost, and what still waits; it is retryable when anything still waits. Costs one append per
  /// session that has buffered entries, and nothing when there are none.
  [[nodiscard]] Result<void> flush();
  /// Flushes, and makes all later calls return Closed; followers that wait return Closed as well. After a retryable
  /// error (such as a full disk) the store is still open and keeps what it could not write: call close() again. After
  /// any other error the store is closed, and the error says what was lost. A second close() during the first waits for
  /// it; closing a closed store succeeds.
  [[nodiscard]] Result<void> close();

  /// Used by code that derives data from the sessions: changes() tells what changed, and catalog() answers lists and
  /// searches inside the backend. Null when the backend does not have that part. Both belong to the backend and live as
  /// long as it does. Their calls do not see what the store has buffered, so flush first.
  [[nodiscard]] ChangeFeed* changes() const;
  [[nodiscard]] CatalogSource* catalog() const;

  // The calls that the specification names.
  //
  // Each call looks up `sessionId`, and returns NotFound and InvalidArgument as session() does.

  /// Same as create, but returns the handle that the specification asks for.
  [[nodiscard]] Result<SessionHandle> createSession(const NewSession& session = {});
  /// Same as Session::append.
  [[nodiscard]] Result<AppendResult> appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                                          const AppendOptions& options = {});
  /// Same as Session::load.
  [[nodiscard]] Result<std::vector<Entry>> loadSessionEntries(const std::string& sessionId,
                                                              const LoadOptions& options = {});
  /// Same as Session::entry.
  [[nodiscard]] Result<Entry> loadEntry(const std::string& sessionId, const std::string& entryId);
  /// Same as Session::fork, but does not open the new session.
  [[nodiscard]] Result<SessionHandle> branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                                      const NewSession& session = {});
  /// Same as Session::conversation; without an entry, up to the head.
  [[nodiscard]] Result<std::vector<Entry>> buildConversationHistory(const std::string& sessionId,
                                                                    const std::string& entryId = {});
  /// Same as StoreMaintenance::migrate.
  [[nodiscard]] Result<MigrationResult> migrateSession(const std::string& sessionId);

  // Reading, by session id. These are the calls of Session with the same names, except: loadEntriesAt is entriesAt,
  // openCursor is cursor, loadTree is tree, sessionState is state, exportSession is exportLines, and readOwnEntries is
  // readOwn.

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
  /// Same as Session::diff, for two branches of this store.
  [[nodiscard]] Result<BranchDiff> diffBranches(const BranchEnd& left, const BranchEnd& right);

  // Writing, by session id. These are the calls of Session with the same names, except: labelEntry is label,
  // restoreLabel is moveHeadToLabel, and redactEntry is redact.

  [[nodiscard]] Result<AppendResult> moveHead(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<AppendResult> labelEntry(const std::string& sessionId, const std::string& entryId,
                                                const std::string& name);
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> restoreLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& sessionId, const std::string& title);
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const std::string& sessionId, const BranchSummary& summary);
  [[nodiscard]] Result<AppendResult> redactEntry(const std::string& sessionId, const std::string& entryId,
                                                 const std::string& by, const std::string& reason);

  // Upkeep, by session id, trash id or digest. These are the calls of StoreMaintenance with the same names without
  // `Session`, except: deleteSession is remove, and trashSession moves one session, where StoreMaintenance::trash moves
  // many at once.

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

  /// Returns the serializer that the backend writes entries with. It decodes the lines that exportLines passes on, and
  /// lives as long as the backend.
  [[nodiscard]] const EntrySerializer& serializer() const;

  // What has changed: the calls of ChangeFeed. They also answer when the backend has no feed.

  /// ChangeFeed::folder; empty when there is no feed.
  [[nodiscard]] std::string folder() const;
  /// ChangeFeed::since, after a flush; when there is no feed, everything may have changed.
  [[nodiscard]] Result<ChangeSet> changesSince(std::string_view token);
  /// ChangeFeed::groupOf; when there is no feed, all sessions are in group 0.
  [[nodiscard]] std::uint32_t changeGroup(std::string_view sessionId) const;
  /// ChangeFeed::stamp, after a flush of the session; when there is no feed, made from the session's number of entries
  /// and its tail.
  [[nodiscard]] Result<std::string> sessionStamp(const std::string& sessionId);

  struct Impl;  ///< Not part of the interface.

 private:
  explicit SessionStore(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// Makes a backend that keeps sessions in a folder of JSONL files (docs/format.md), for SessionStore::open. It uses the
/// options `create` and `lockTimeoutMs`. Completes an erasure that was interrupted. Fails as SessionStore::open does.
/// `serializer` must outlive the backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makeFileBackend(
    const std::string& folder, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string&, const StoreOptions&,
                                                                      const EntrySerializer&&) = delete;

/// A session file outside of any store.
struct SessionFileBackend {
  std::shared_ptr<StorageBackend> backend = {};  ///< Holds this one session. Every call that writes returns ReadOnly.
  std::string sessionId = {};                    ///< From the file's name.
};
/// Opens a session file for reading, without an index file; the first read scans the whole file. InvalidArgument when
/// the name is not that of a session file: <id>.jsonl, <id>.jsonl.zst or <id>.jsonl.gz. NotFound when the folder does
/// not exist; when the file does not exist, the first call on the session returns NotFound.
[[nodiscard]] Result<SessionFileBackend> openSessionFile(const std::string& path);

/// Makes a backend that keeps sessions in memory for as long as it lives. It supports trash and attachments, but not
/// archives. `serializer` must outlive the backend.
[[nodiscard]] std::shared_ptr<StorageBackend> makeMemoryBackend(
    const EntrySerializer& serializer = jsonEntrySerializer());
std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer&&) = delete;

// Stores in PostgreSQL (docs/scale.md). SessionStore::open accepts their URL like any other location.

/// Makes a backend that keeps sessions in PostgreSQL. The URL is `postgresql://…` as libpq accepts it, with an optional
/// `schema=NAME` among its parameters. Connects at the first call and keeps up to 8 connections; further calls wait for
/// a free connection. InvalidArgument when the URL cannot be parsed; Unsupported when libpq is not installed.
/// `lockTimeoutMs` of the options limits each call including its retries. `serializer` must outlive the backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makePostgresBackend(
    const std::string& url, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());

/// The schema versions that initPostgresStore found and left.
struct PostgresSchema {
  int versionBefore = 0;  ///< 0: there was no store.
  int version = 0;
};
/// Creates the tables of a store in PostgreSQL, or upgrades them. Can be repeated, also by several processes at once.
/// NewerFormat when a newer version of bough made the tables; ReadOnly when the role may not create tables;
/// InvalidArgument when the schema holds tables of another application, or when the encoding of the database cannot
/// hold every text (UTF8 can).
[[nodiscard]] Result<PostgresSchema> initPostgresStore(const std::string& url);
/// Gives a database role the rights of a `reader`, a `writer` (reads and appends) or a `keeper` (also trashes and
/// erases), in one transaction. InvalidArgument for other rights and for a role that does not exist; ReadOnly when the
/// caller's own role may not grant them.
[[nodiscard]] Result<void> grantPostgresStore(const std::string& url, const std::string& role,
                                              const std::string& rights);

/// Returns true when a location is a database and not a folder.
[[nodiscard]] bool isPostgresLocation(std::string_view location);
/// Returns a location without its password, for messages and logs. Never fails.
[[nodiscard]] std::string shownLocation(const std::string& location);

// Copies between stores of any kind.
//
// These calls work on the backends, below SessionStore. They do not see what a store has buffered, so flush both sides
// first. Sessions are read and written a few hundred entries at a time, so memory does not grow with their size. Use
// each side from one thread.

struct KnownTrash;

/// One side of a copy: a store and the backend below it.
struct StoreSide {
  std::shared_ptr<StorageBackend> backend = {};
  std::unique_ptr<SessionStore> store = {};
  std::shared_ptr<KnownTrash> trash = {};  ///< What syncSession last read of the trash.

  /// Same as SessionStore::open.
  [[nodiscard]] static Result<StoreSide> open(const std::string& location, const StoreOptions& options = {});
};

struct CopiedSession {
  std::string sessionId = {};
  std::uint64_t presentEntries = 0;  ///< Entries that the target had already, with equal content.
  std::uint64_t copiedEntries = 0;
};

/// Copies a session, and before it the sessions whose history it shares; the results are in that order. Entries that
/// the target already has are compared one by one, and the copy continues after them. So the call can simply be
/// repeated when a copy was interrupted or when the source has grown. An attachment that the target has lost is stored
/// there again.
///
/// Conflict: the target holds other entries; syncSession joins such sessions. IdConflict: an entry was erased in one of
/// the two stores. Damaged: something in the source, or an attachment, cannot be read; what was copied before stays.
/// NotFound: the source has no such session. Costs one read of both sessions, even when little is new.
[[nodiscard]] Result<std::vector<CopiedSession>> copySession(StoreSide& from, StoreSide& to,
                                                             const std::string& sessionId);

struct SyncedSession {
  std::string sessionId = {};
  std::uint64_t toLeft = 0;  ///< Entries that were added to the left store.
  std::uint64_t toRight = 0;
  std::vector<std::string> notes = {};  ///< For people: what both sides had changed, and which change won.
};

/// Exchanges the entries of a session between two stores, so that both have the same entries afterwards. A session that
/// one store lacks is created there, and so are the sessions whose history it shares. Where both sides have moved the
/// head or a label, or changed the title, the pin or the time to live, the newer change wins in both stores; the older
/// one stays reachable by its entry id. An attachment that one store has lost is restored from the other.
///
/// IdConflict: both stores hold an entry with the same id and other content, or one of them has erased it; no entry was
/// added. Conflict: the two are different sessions with the same id, or other writers kept appending during five
/// attempts. Damaged: something cannot be read. NotFound: neither store has the session. Costs a read of both sessions
/// from the beginning, and memory for each entry after the first difference, on the side that has fewer.
[[nodiscard]] Result<std::vector<SyncedSession>> syncSession(StoreSide& left, StoreSide& right,
                                                             const std::string& sessionId);

}  // namespace BOUGH_PUBLIC bough
