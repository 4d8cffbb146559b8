// SessionStore: a place that keeps sessions. It opens, creates and lists them; Session works with one of them,
// StoreMaintenance looks after them all.
//
//   auto store = SessionStore::open(defaultLocation().value());
//   auto session = (*store)->create({.key = "main:cli:user"});
//   session->append({userText("Hello")});
//
// Threads: every call may come from any thread. One store may be opened by many processes at once.
//
// The names of the specification (createSession, appendSessionEntries, …) are at the end: each does what the call of
// Session or StoreMaintenance does that it names.
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

/// What holds for the store as a whole, for everybody who uses it. Kept beside the sessions.
struct StoreSettings {
  /// How long sessions that have no time to live of their own are kept after their last entry; none: forever. Nothing
  /// goes by itself: see Catalog::expired.
  std::optional<std::uint64_t> timeToLiveMs = {};
};

struct StoreOptions {
  Durability durability = Durability::Sync;
  std::size_t bufferedEntries = 100;                     ///< Buffered: flush after this many buffered entries,
  int bufferedMs = 1000;                                 ///< or when the oldest has waited this long.
  std::size_t attachmentBytes = std::size_t{256} << 10;  ///< Payloads larger than this are stored as attachments.
  bool create = true;                                    ///< Make the store when it is missing.
  int lockTimeoutMs = 30'000;                            ///< Busy after waiting so long for another process.
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

/// A session to follow, from the entry after `position` on (empty: from the beginning).
struct FollowStart {
  std::string sessionId = {};
  std::string position = {};
};

/// Entries that were appended to one session.
struct FollowedEntries {
  std::string sessionId = {};
  std::vector<Entry> entries = {};
};

/// Gives the entries of several sessions as they are appended, by whatever process. Made by
/// SessionStore::followSessions and followAll: one watcher for all of them, no thread. One thread, except for stop().
class StoreFollower {
 public:
  StoreFollower(StoreFollower&&) noexcept;
  StoreFollower& operator=(StoreFollower&&) noexcept;
  ~StoreFollower();

  /// New entries, session by session; waits for the first one. Empty when the time is over (-1: never) or after stop().
  /// A session that is removed gives nothing more.
  [[nodiscard]] Result<std::vector<FollowedEntries>> next(int timeoutMs);
  /// As SessionCursor::position, of one of the sessions.
  [[nodiscard]] std::string position(const std::string& sessionId) const;
  /// Ends a waiting next() and all later ones, from any thread.
  void stop();

 private:
  friend class SessionStore;
  struct State;
  explicit StoreFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Where a person's sessions are: `BOUGH_STORE`, else `$XDG_DATA_HOME/bough` when that is an absolute path, else
/// `$HOME/.local/share/bough`. NotFound when none of them is set.
[[nodiscard]] Result<std::string> defaultLocation();

/// fork(2): a store in a folder works on in the child, which opens its files again, whatever other threads of the
/// parent were doing. Buffered entries that wait belong to the parent, which writes them; the child begins with none,
/// so a parent that ends after the fork flushes before it. A store in memory, or over a backend of the caller's that
/// does not say otherwise (StorageBackend::isUsableAfterFork), returns Unsupported in the child. A child that was
/// forked inside a callback of the store, or by clone(2) or _Fork() without fork's handlers, must not use the store.
class SessionStore {
 public:
  /// Opens the store at a folder, or in memory (`memory:`, gone with the object). InvalidArgument for a location that
  /// begins with `~`: that is for a shell to expand. NotFound when there is none and StoreOptions::create is false.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(const std::string& location,
                                                                  const StoreOptions& options = {});
  /// Opens a store over a backend of the caller's.
  [[nodiscard]] static Result<std::unique_ptr<SessionStore>> open(SessionStoreInit init);
  /// Closes the store; what a failed flush could not write is lost then, so call close() to learn of it.
  ~SessionStore();

  /// Looks a session up. NotFound when there is none (over a database, the session's first call says so). Costs no read
  /// when the session was open before.
  [[nodiscard]] Result<Session> session(const std::string& sessionId);
  /// Makes a session. AlreadyExists when there is one of that id; InvalidArgument when its id or key breaks a rule.
  [[nodiscard]] Result<Session> create(const NewSession& session = {});
  /// The ids of all sessions. Costs one listing of the folder; Catalog has what is known of each.
  [[nodiscard]] Result<std::vector<std::string>> listSessions();
  /// Verify, repair, migrate, archive; the trash; attachments.
  [[nodiscard]] StoreMaintenance maintenance() const;

  /// Follows several sessions in one call. NotFound when one of them, or its position, is not there.
  [[nodiscard]] Result<StoreFollower> followSessions(const std::vector<FollowStart>& sessions);
  /// Follows every session: what is appended from now on, and sessions that are made later from their beginning. Costs
  /// one look at each session to begin with.
  [[nodiscard]] Result<StoreFollower> followAll();

  /// What saveSettings was given last, in any process. Damaged when it cannot be read.
  [[nodiscard]] Result<StoreSettings> settings();
  [[nodiscard]] Result<void> saveSettings(const StoreSettings& settings);

  /// Makes everything that was appended durable. The error tells of every session that could not be written, what was
  /// lost and what still waits; it is retryable when anything waits.
  [[nodiscard]] Result<void> flush();
  /// Flushes and refuses all later calls. After a retryable error (a full disk) the store is still open, and what could
  /// not be written waits: close it again. One that is called meanwhile waits for the first.
  [[nodiscard]] Result<void> close();

  /// For what is derived from the sessions: what changed, and whether the backend answers lists and searches itself.
  /// Null when the backend has no such part.
  [[nodiscard]] ChangeFeed* changes() const;
  [[nodiscard]] CatalogSource* catalog() const;

  // The specification's names. Each looks the session up and forwards.
  [[nodiscard]] Result<SessionHandle> createSession(const NewSession& session = {});
  [[nodiscard]] Result<AppendResult> appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                                          const AppendOptions& options = {});
  [[nodiscard]] Result<std::vector<Entry>> loadSessionEntries(const std::string& sessionId,
                                                              const LoadOptions& options = {});
  [[nodiscard]] Result<Entry> loadEntry(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<std::vector<Entry>> loadEntriesAt(const std::string& sessionId,
                                                         const std::vector<Sequence>& sequences);
  [[nodiscard]] Result<SessionCursor> openCursor(const std::string& sessionId, const std::string& position = {});
  [[nodiscard]] Result<SessionFollower> follow(const std::string& sessionId, const std::string& position = {});
  [[nodiscard]] Result<SessionHandle> branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                                      const NewSession& session = {});
  [[nodiscard]] Result<AppendResult> moveHead(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<SessionTree> loadTree(const std::string& sessionId);
  [[nodiscard]] Result<Sequence> sequenceOf(const std::string& sessionId, const std::string& entryId);
  [[nodiscard]] Result<std::vector<std::string>> findEntryIds(const std::string& sessionId, const std::string& prefix,
                                                              std::size_t limit);
  [[nodiscard]] Result<std::vector<Entry>> buildConversationHistory(const std::string& sessionId,
                                                                    const std::string& entryId = {});
  [[nodiscard]] Result<BranchDiff> diffBranches(const BranchEnd& left, const BranchEnd& right);
  [[nodiscard]] Result<AppendResult> labelEntry(const std::string& sessionId, const std::string& entryId,
                                                const std::string& name);
  [[nodiscard]] Result<std::vector<SessionLabel>> labels(const std::string& sessionId);
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> restoreLabel(const std::string& sessionId, const std::string& name);
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& sessionId, const std::string& title);
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const std::string& sessionId, const BranchSummary& summary);
  [[nodiscard]] Result<AppendResult> redactEntry(const std::string& sessionId, const std::string& entryId,
                                                 const std::string& by, const std::string& reason);
  [[nodiscard]] Result<SessionState> sessionState(const std::string& sessionId);
  [[nodiscard]] Result<void> exportSession(const std::string& sessionId,
                                           const std::function<bool(std::string_view)>& line);
  [[nodiscard]] Result<void> readOwnEntries(const std::string& sessionId, std::uint64_t fromSequence,
                                            std::uint64_t limit,
                                            const std::function<void(std::uint64_t sequence, Entry& entry)>& use);
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId);
  [[nodiscard]] Result<void> deleteSession(const std::string& sessionId, const DeleteOptions& options = {});
  [[nodiscard]] Result<TrashedSession> trashSession(const std::string& sessionId, const DeleteOptions& options = {});
  [[nodiscard]] Result<std::vector<TrashedSession>> listTrash();
  [[nodiscard]] Result<void> exportTrashed(const std::string& trashId,
                                           const std::function<bool(std::string_view)>& line);
  [[nodiscard]] Result<void> restoreSession(const std::string& trashId);
  [[nodiscard]] Result<std::uint64_t> emptyTrash(const std::vector<std::string>& trashIds);
  [[nodiscard]] Result<ArchiveResult> archiveSession(const std::string& sessionId);
  [[nodiscard]] Result<MigrationResult> migrateSession(const std::string& sessionId);
  [[nodiscard]] Result<VerifyReport> verifySession(const std::string& sessionId);
  [[nodiscard]] Result<RepairReport> repairSession(const std::string& sessionId);
  [[nodiscard]] Result<std::string> putAttachment(std::string_view bytes);
  [[nodiscard]] Result<std::string> readAttachment(const std::string& sha256);
  [[nodiscard]] Result<std::vector<std::string>> findUnusedAttachments();
  [[nodiscard]] Result<std::size_t> removeUnusedAttachments(const std::vector<std::string>& sha256s);
  [[nodiscard]] std::string folder() const;
  [[nodiscard]] Result<ChangeSet> changesSince(std::string_view token);
  [[nodiscard]] std::uint32_t changeGroup(std::string_view sessionId) const;
  [[nodiscard]] Result<std::string> sessionStamp(const std::string& sessionId);

  struct Impl;  ///< Not part of the interface.

 private:
  explicit SessionStore(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// A backend that keeps sessions in a folder of JSONL files (docs/format.md). `serializer` must outlive the backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makeFileBackend(
    const std::string& folder, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());
Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string&, const StoreOptions&,
                                                        const EntrySerializer&&) = delete;

/// A session file that lies outside of any store, and the id it has by its name.
struct SessionFileBackend {
  std::shared_ptr<StorageBackend> backend = {};  ///< Holds that one session. ReadOnly when it is written to.
  std::string sessionId = {};
};
/// InvalidArgument when the name is not that of a session file: <id>.jsonl, <id>.jsonl.zst or <id>.jsonl.gz.
[[nodiscard]] Result<SessionFileBackend> openSessionFile(const std::string& path);

/// A backend that keeps sessions in memory, as long as it lives. `serializer` must outlive the backend.
[[nodiscard]] std::shared_ptr<StorageBackend> makeMemoryBackend(
    const EntrySerializer& serializer = jsonEntrySerializer());
std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer&&) = delete;

// Stores in PostgreSQL (docs/scale.md). SessionStore::open takes their URL like any other location.

/// A backend that keeps sessions in PostgreSQL: `postgresql://…` as libpq takes it, and `schema=NAME` among its
/// options. Connects with the first call. InvalidArgument when the URL cannot be read. `serializer` must outlive the
/// backend.
[[nodiscard]] Result<std::shared_ptr<StorageBackend>> makePostgresBackend(
    const std::string& url, const StoreOptions& options = {},
    const EntrySerializer& serializer = jsonEntrySerializer());

/// What initPostgresStore found and left.
struct PostgresSchema {
  int versionBefore = 0;  ///< 0: there was no store.
  int version = 0;
};
/// Creates the tables of a store in PostgreSQL, or brings them up to date; can be repeated. NewerFormat when a newer
/// version of bough made them.
[[nodiscard]] Result<PostgresSchema> initPostgresStore(const std::string& url);
/// Gives a role of the database the rights of a `reader`, a `writer` (reads and appends) or a `keeper` (also throws
/// away and erases).
[[nodiscard]] Result<void> grantPostgresStore(const std::string& url, const std::string& role,
                                              const std::string& rights);

/// Whether a location is a database and not a folder.
[[nodiscard]] bool isPostgresLocation(std::string_view location);
/// A location without its password, for people.
[[nodiscard]] std::string shownLocation(const std::string& location);

// Copying between stores of any kind.

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

/// Copies a session, and before it those whose history it shares. What is there already is compared entry by entry, and
/// the copy goes on after it; so a copy that was interrupted, or whose source has grown, is repeated. Conflict when the
/// target holds something else: syncSession joins such sessions.
[[nodiscard]] Result<std::vector<CopiedSession>> copySession(StoreSide& from, StoreSide& to,
                                                             const std::string& sessionId);

struct SyncedSession {
  std::string sessionId = {};
  std::uint64_t toLeft = 0;  ///< Entries that the left store got.
  std::uint64_t toRight = 0;
  std::vector<std::string> notes = {};  ///< For people: what both sides had moved, and which one counts now.
};

/// Gives each of two stores the entries of a session that only the other has; afterwards both have the same. Where both
/// have moved the head, a label or the title, the newer one counts in both, and the other stays reachable by its id.
/// IdConflict when both hold an entry of one id with other content.
[[nodiscard]] Result<std::vector<SyncedSession>> syncSession(StoreSide& left, StoreSide& right,
                                                             const std::string& sessionId);

}  // namespace BOUGH_PUBLIC bough
