// SessionStore: the one place through which sessions are made, read, appended to and branched.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/entry_serializer.h"
#include "bough/error.h"
#include "bough/report.h"
#include "bough/storage_backend.h"
#include "bough/tree.h"

namespace bough {

/// When an append is acknowledged.
enum class Durability : std::uint8_t {
  Sync,      ///< When it would survive a loss of power.
  Buffered,  ///< At once; it becomes durable at the next flush. A crash loses the unflushed tail, never half a batch.
};

/// What holds for the store as a whole, for everybody who uses it. Kept beside the sessions.
struct StoreSettings {
  /// How long sessions that have no time to live of their own are kept after their last entry; none: for ever. Nothing
  /// goes by itself: see Catalog::expired.
  std::optional<std::uint64_t> timeToLiveMs;
};

struct StoreOptions {
  Durability durability = Durability::Sync;
  std::size_t bufferedEntries = 100;                     ///< Buffered: flush when so many wait,
  int bufferedMs = 1000;                                 ///< or when the oldest has waited so long.
  std::size_t attachmentBytes = std::size_t{256} << 10;  ///< Payloads larger than this are stored as attachments.
  bool create = true;                                    ///< Make the store when it is missing.
  int lockTimeoutMs = 30'000;                            ///< Busy after waiting so long for another process.
};

/// What SessionStore::open needs when it is given a backend.
struct SessionStoreInit {
  std::shared_ptr<StorageBackend> backend;
  StoreOptions options;
};

struct NewSession {
  std::string sessionId;  ///< 1 to 100 of [A-Za-z0-9._-], no leading dot. Empty: a time-ordered UUID.
  std::string key;        ///< `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`.
  std::string cwd;
  std::string title;
};

struct SessionHandle {
  std::string sessionId;
  int schemaVersion = 0;
};

struct AppendOptions {
  /// Conflict unless this is the tail. A batch that was stored before is recognized all the same.
  std::optional<std::string> expectedTail;
  std::optional<Durability> durability;  ///< The store's when left out.
};

struct LoadOptions {
  std::uint64_t fromSequence = 0;  ///< From this sequence on; with `branch`, from this place on it, the root's being 0.
  std::size_t limit = SIZE_MAX;
  std::size_t limitBytes = SIZE_MAX;  ///< Not those behind the entry with which the payloads reach this together.
  std::optional<std::size_t> last;    ///< Only the last n of what the other options leave.
  std::optional<std::string> branch;  ///< Only the branch that ends in this entry, root first.
  std::string type;                   ///< Only entries of this type.
  std::vector<std::string> types;  ///< Only entries of one of these types; on a whole branch others are not even read.
  bool showRedacted = false;       ///< Return payloads as they were stored, redacted or not: for audits.
};

/// A name for an entry: a snapshot that costs one line.
struct SessionLabel {
  std::string name;
  std::string entryId;
  std::string timestamp;  ///< When it was given.
  std::string sessionId;  ///< By which session: a fork also has those that others give to what it shares.
};

/// What another branch, of this session or another, came to.
struct BranchSummary {
  std::string sourceSessionId;
  std::string sourceEntryId;  ///< The last entry of that branch.
  std::string summary;
};

/// A branch, by the entry it ends in.
struct BranchEnd {
  std::string sessionId;
  std::string entryId;  ///< Empty: the head.
};

/// Two branches, of one session or of two: what both begin with, and where each goes from there, root first.
struct BranchDiff {
  std::vector<TreeNode> common;  ///< Sequences in the left session.
  std::size_t sameEntries = 0;   ///< So many of them are the very same entries; the others are equal in content.
  std::vector<TreeNode> left;    ///< Sequences in the left session.
  std::vector<TreeNode> right;   ///< Sequences in the right session.
};

struct DeleteOptions {
  bool detachForks = false;  ///< First give each fork its own copy of what it shares.
};

struct ArchiveResult {
  std::string sessionId;
  std::uint64_t bytesBefore = 0;
  std::uint64_t bytesAfter = 0;
};

/// Gives a session's entries in parts. Made by SessionStore::openCursor; must not outlive its store. One thread.
class SessionCursor {
 public:
  SessionCursor(SessionCursor&&) noexcept;
  SessionCursor& operator=(SessionCursor&&) noexcept;
  ~SessionCursor();

  /// The next entries, at most `count`; fewer at the end, where later calls return what was appended meanwhile, and
  /// when their payloads reach 64 MB together. None only at the end.
  Result<std::vector<Entry>> next(std::size_t count);
  [[nodiscard]] Result<bool> hasMore() const;
  /// Back to the beginning.
  void reset();
  /// Where the cursor stands: the id of the last entry it gave, empty at the beginning. Can be stored, and given to
  /// openCursor or follow later, in another process too.
  [[nodiscard]] const std::string& position() const;

 private:
  friend class SessionStore;
  struct State;
  explicit SessionCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Gives a session's entries as they are appended, by whatever process. Made by SessionStore::follow; must not outlive
/// its store. One thread, but for stop().
class SessionFollower {
 public:
  SessionFollower(SessionFollower&&) noexcept;
  SessionFollower& operator=(SessionFollower&&) noexcept;
  ~SessionFollower();

  /// The entries behind the position; waits for the first one. Empty when the time is over (-1: never) or after stop().
  Result<std::vector<Entry>> next(int timeoutMs);
  /// As SessionCursor::position.
  [[nodiscard]] const std::string& position() const;
  /// Ends a waiting next() and all later ones, from any thread.
  void stop();

 private:
  friend class SessionStore;
  struct State;
  explicit SessionFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Keeps sessions in a backend. All calls may come from any thread.
///
/// fork(2): a store in a folder works on in the child, which opens its files again, whatever other threads of the
/// parent were doing. Buffered entries that wait belong to the parent, which writes them; the child begins with none,
/// so a parent that ends after the fork flushes before it. A store in memory, or over a backend of the caller's that
/// does not say otherwise (StorageBackend::isUsableAfterFork), returns Unsupported in the child. A child that was
/// forked inside a callback of the store, or by clone(2) or _Fork() without fork's handlers, must not use the store.
class SessionStore {
 public:
  /// Opens the store at a folder, or in memory (`memory:`, gone with the object).
  static Result<std::unique_ptr<SessionStore>> open(const std::string& location, const StoreOptions& options = {});
  /// Opens a store over a backend of the caller's.
  static Result<std::unique_ptr<SessionStore>> open(SessionStoreInit init);
  /// Closes it; what a failed flush could not write is lost then, so call close() to learn of it.
  ~SessionStore();

  Result<SessionHandle> createSession(const NewSession& session = {});

  /// Appends a batch: all of it is stored, or nothing. Missing ids, times and parents are filled in. An entry that is
  /// stored already is counted as a duplicate; IdConflict when it is stored with other content.
  Result<AppendResult> appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                            const AppendOptions& options = {});

  Result<std::vector<Entry>> loadSessionEntries(const std::string& sessionId, const LoadOptions& options = {});
  /// One entry, found through the index. NotFound when the session has none of that id.
  Result<Entry> loadEntry(const std::string& sessionId, const std::string& entryId);
  Result<SessionCursor> openCursor(const std::string& sessionId, const std::string& position = {});
  Result<SessionFollower> follow(const std::string& sessionId, const std::string& position = {});

  /// Makes a session that continues from an entry of another and shares its history. Costs the same for any size.
  Result<SessionHandle> branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                        const NewSession& session = {});
  /// Moves the head, durably. An empty id moves it before the first entry.
  Result<AppendResult> moveHead(const std::string& sessionId, const std::string& entryId);
  /// The session as a tree, from the index: no entry is read but labels and entries without a known parent.
  Result<SessionTree> loadTree(const std::string& sessionId);
  /// The entries at these sequences (the nodes of the tree), in this order.
  Result<std::vector<Entry>> loadEntriesAt(const std::string& sessionId, const std::vector<TreeNode>& sequences);
  /// Where an entry stands in the tree. NotFound when the session has none of that id.
  Result<TreeNode> sequenceOf(const std::string& sessionId, const std::string& entryId);
  /// The ids that begin with `prefix`, in the session's order, at most `limit`.
  Result<std::vector<std::string>> findEntryIds(const std::string& sessionId, const std::string& prefix,
                                                std::size_t limit);
  /// The conversation from its root to an entry, without control entries; to the head when `entryId` is left out.
  Result<std::vector<Entry>> buildConversationHistory(const std::string& sessionId, const std::string& entryId = {});

  /// Compares two branches, entry by entry. Entries are equal when type and payload are, byte for byte.
  Result<BranchDiff> diffBranches(const BranchEnd& left, const BranchEnd& right);

  /// Gives an entry a name, durably; a label of that name moves. Names are 1 to 128 bytes of printable text that
  /// neither begins with `@` nor holds `~`. A fork also has the labels of the history it shares.
  Result<AppendResult> labelEntry(const std::string& sessionId, const std::string& entryId, const std::string& name);
  /// By name.
  Result<std::vector<SessionLabel>> labels(const std::string& sessionId);
  /// NotFound when there is no such label.
  Result<AppendResult> removeLabel(const std::string& sessionId, const std::string& name);
  /// Moves the head to a labelled entry.
  Result<AppendResult> restoreLabel(const std::string& sessionId, const std::string& name);
  Result<AppendResult> setTitle(const std::string& sessionId, const std::string& title);
  /// Appends a summary of another branch behind the head.
  Result<AppendResult> appendBranchSummary(const std::string& sessionId, const BranchSummary& summary);

  /// Hides an entry's payload from every derived view; the log keeps it. `by` and `reason` must say something; a
  /// header, a head entry and a redaction cannot be hidden, since a session is read by them.
  Result<AppendResult> redactEntry(const std::string& sessionId, const std::string& entryId, const std::string& by,
                                   const std::string& reason);

  Result<std::vector<std::string>> listSessions();
  /// As StorageBackend has them: for what is derived from the sessions and must find out what is new.
  [[nodiscard]] std::string folder() const;
  Result<ChangeSet> changesSince(std::string_view token);
  [[nodiscard]] std::uint32_t changeGroup(std::string_view sessionId) const;
  Result<std::string> sessionStamp(const std::string& sessionId);
  /// Gives the session's own entries from `fromSequence` on, at most `limit`, to `use`: not what a fork shares, and
  /// redacted or not. A payload whose attachment cannot be read is the reference to it.
  Result<void> readOwnEntries(const std::string& sessionId, std::uint64_t fromSequence, std::uint64_t limit,
                              const std::function<void(std::uint64_t sequence, Entry& entry)>& use);
  Result<SessionState> sessionState(const std::string& sessionId);
  /// The sessions that share history of this one.
  Result<std::vector<std::string>> forksOf(const std::string& sessionId);
  /// HasForks, with their names, when others share its history; Damaged when that cannot be known of one.
  Result<void> deleteSession(const std::string& sessionId, const DeleteOptions& options = {});
  /// Moves a session to the trash, from where it can be brought back. Refused as with deleteSession.
  Result<TrashedSession> trashSession(const std::string& sessionId, const DeleteOptions& options = {});
  /// The one thrown away last comes first.
  Result<std::vector<TrashedSession>> listTrash();
  /// As exportSession, of a session in the trash.
  Result<void> exportTrashed(const std::string& trashId, const std::function<bool(std::string_view)>& line);
  /// Brings a session back from the trash. AlreadyExists when its id is taken again; NotFound when it is a fork and the
  /// session it continues is not in the store.
  Result<void> restoreSession(const std::string& trashId);
  /// Removes sessions from the trash for good; returns how many bytes came back. HasForks when one that stays in the
  /// trash shares the history of one that would go.
  Result<std::uint64_t> emptyTrash(const std::vector<std::string>& trashIds);
  Result<ArchiveResult> archiveSession(const std::string& sessionId);
  /// Brings a session of an older format to the present one; the old file is kept beside it.
  Result<MigrationResult> migrateSession(const std::string& sessionId);
  Result<VerifyReport> verifySession(const std::string& sessionId);
  Result<RepairReport> repairSession(const std::string& sessionId);
  /// Gives the log as it is stored, line by line, to `line`, until it returns false.
  Result<void> exportSession(const std::string& sessionId, const std::function<bool(std::string_view)>& line);

  /// Stores bytes once, by content; returns their SHA-256.
  Result<std::string> putAttachment(std::string_view bytes);
  Result<std::string> readAttachment(const std::string& sha256);
  /// Attachments that no entry of any session names. An entry names one by holding its 64 hex digits.
  /// What an interrupted writing left is among them: its digits, and `.….tmp`.
  Result<std::vector<std::string>> findUnusedAttachments();
  /// Removes those of the given ones that are still unused; returns how many.
  Result<std::size_t> removeUnusedAttachments(const std::vector<std::string>& sha256s);

  /// What saveSettings was given last, in any process. Damaged when it cannot be read.
  Result<StoreSettings> settings();
  Result<void> saveSettings(const StoreSettings& settings);

  /// Makes everything that was appended durable. The error tells of every session that could not be written, what was
  /// lost and what still waits; it is retryable when anything waits.
  Result<void> flush();
  /// Flushes and refuses all later calls. After a retryable error (a full disk) the store is still open, and what could
  /// not be written waits: close it again. One that is called meanwhile waits for the first.
  Result<void> close();

  struct Impl;  ///< Not part of the interface.

 private:
  friend class SessionCursor;
  friend class SessionFollower;
  explicit SessionStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A backend that keeps sessions in a folder of JSONL files (docs/format.md).
Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string& folder, const StoreOptions& options = {},
                                                        const EntrySerializer& serializer = jsonEntrySerializer());

/// A session file that lies outside of any store, and the id it has by its name.
struct SessionFileBackend {
  std::shared_ptr<StorageBackend> backend;  ///< Holds that one session. ReadOnly when it is written to.
  std::string sessionId;
};
/// InvalidArgument when the name is not that of a session file: <id>.jsonl, <id>.jsonl.zst or <id>.jsonl.gz.
Result<SessionFileBackend> openSessionFile(const std::string& path);

/// A backend that keeps sessions in memory, as long as it lives.
std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer& serializer = jsonEntrySerializer());

}  // namespace bough
