// Session: one conversation of a store. It is a handle: cheap to copy, looked up once, and safe to keep.
//
// Threads: every call of Session may come from any thread, at the same time. Cursors and followers belong to one thread
// each. Handles may outlive the store's object; their calls then return Closed.
//
// Costs: an append is one write and one sync of the disk, however many entries the batch has; appends of several
// threads share them. Reads go through the index: the last n entries cost n lines, wherever the session's other entries
// are. In a database a call is one round trip, unless it says otherwise.
//
// Buffered entries: every call that reads flushes what this store has buffered for the session first, so that a caller
// reads what it wrote. An error of that flush is the call's error.
//
// Failures: besides what each call names, every call may return NotFound (the session is gone), Closed (the store was
// closed), Damaged (stored bytes cannot be read; `retryable` when they are being replaced at this moment), Busy
// (another process held the lock for too long), Unavailable, Timeout or Io.
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
#include "bough/storage_backend.h"
#include "bough/tree.h"

namespace BOUGH_PUBLIC bough {

class SessionStore;

/// When an append is acknowledged.
enum class Durability : std::uint8_t {
  Sync,  ///< When it would survive a loss of power.
  /// At once, checked against the rules of an append; it becomes durable at the next flush (StoreOptions says when). A
  /// crash loses the unflushed tail, never half a batch. What a flush could not store is the error of the session's
  /// next call. A batch with expectedTail, a turn or an attachment is written at once all the same, after what waits.
  Buffered,
};

struct AppendOptions {
  /// Conflict unless this is the tail, as SessionState::tailId has it. A batch that was stored before is recognized all
  /// the same.
  std::optional<std::string> expectedTail = {};
  std::optional<Durability> durability = {};  ///< The store's when left out.
  /// The number of a turn, from Session::beginTurn. Conflict when a later turn has begun since.
  std::optional<std::uint64_t> turn = {};
};

/// What a new session begins with.
struct NewSession {
  std::string sessionId = {};  ///< 1 to 100 of [A-Za-z0-9._-], no leading dot. Empty: a time-ordered UUID.
  /// `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`, or any text of at most 512 bytes of UTF-8
  /// without control characters. Many sessions may have one key.
  std::string key = {};
  std::string cwd = {};    ///< The folder that the session is about; any text. Not looked at.
  std::string title = {};  ///< Stored in a session_info entry after the header.
};

/// What another branch, of this session or another, came to.
struct BranchSummary {
  std::string sourceSessionId = {};
  std::string sourceEntryId = {};  ///< The last entry of that branch.
  std::string summary = {};
};

/// Two branches, of one session or of two: what both begin with, and where each goes from there, root first.
struct BranchDiff {
  std::vector<Sequence> common = {};  ///< Sequences in the left session.
  std::size_t sameEntries = 0;        ///< So many of them are the very same entries; the others are equal in content.
  std::vector<Sequence> left = {};    ///< Sequences in the left session.
  std::vector<Sequence> right = {};   ///< Sequences in the right session.
};

/// Gives a session's entries in parts, in the session's order. Made by Session::cursor. One thread. Keeps no entries:
/// memory is that of one part. May outlive the store's object; its calls then return Closed.
class SessionCursor {
 public:
  SessionCursor(SessionCursor&&) noexcept;
  SessionCursor& operator=(SessionCursor&&) noexcept;
  ~SessionCursor();

  /// The next entries, at most `count`; fewer at the end, where later calls return what was appended meanwhile, and
  /// when their payloads reach 64 MiB together. None only at the end. As Session::load shows them.
  ///
  /// NotFound when the session was replaced and does not have the last entry that was given any more; reset() begins
  /// again. After an error the cursor is where it was.
  [[nodiscard]] Result<std::vector<Entry>> next(std::size_t count);
  /// Whether next() would give anything. Costs reading one entry.
  [[nodiscard]] Result<bool> hasMore() const;
  /// Goes back to the beginning.
  void reset();
  /// The id of the last entry that the cursor gave, empty at the beginning. Can be stored, and given to cursor or
  /// follow later, in another process too.
  [[nodiscard]] const std::string& position() const;

 private:
  friend class Session;
  struct State;
  explicit SessionCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Gives a session's entries as they are appended, by whatever process. Made by Session::follow. One thread, except for
/// stop(). To follow many sessions in one thread, use SessionStore::followSessions.
class SessionFollower {
 public:
  SessionFollower(SessionFollower&&) noexcept;
  SessionFollower& operator=(SessionFollower&&) noexcept;
  ~SessionFollower();

  /// The entries after the position, at most 256; waits for the first one. Empty when the time is over (-1: never) or
  /// after stop(). Fails as SessionCursor::next does, also during the wait: with Closed when the store is closed,
  /// with NotFound when the session is removed.
  [[nodiscard]] Result<std::vector<Entry>> next(int timeoutMs);
  /// As SessionCursor::position.
  [[nodiscard]] const std::string& position() const;
  /// Ends a waiting next() and all later ones, from any thread.
  void stop();

 private:
  friend class Session;
  struct State;
  explicit SessionFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One session. Made by SessionStore::session, SessionStore::create and Session::fork.
class Session {
 public:
  /// Lives as long as the handle.
  [[nodiscard]] const std::string& id() const;
  /// Counts, tail, head, format: what is known without reading entries but the header. Sees what others have appended.
  [[nodiscard]] Result<SessionState> state() const;

  /// Appends a batch: all of it is stored, or nothing. Missing ids, times and parents are filled in. An entry that is
  /// stored already, under its id and with the same content, counts as a duplicate; so a batch with ids of the caller's
  /// is never stored twice.
  ///
  /// Conflict: `expectedTail` is not the tail, Error::actualTail is; or a later turn than `turn` has begun,
  /// Error::latestTurn. IdConflict: an entry of that id has other content. InvalidArgument: there is no entry, one
  /// breaks a rule, or its parent is not there; Error::batchPlace says which one. NotFound: the session is gone, or a
  /// control entry names an entry that is not there. MigrationNeeded, NewerFormat: the session is not in the present
  /// format. NoSpace, ReadOnly: nothing was stored. Poisoned: nothing is acknowledged until the store is opened again.
  /// OutcomeUnknown: append the same entries with the same ids again. Io or Busy, both retryable: the log's end looks
  /// torn, and it could not be asked whether a catalog, an archive or a fork has counted it; nothing was changed.
  ///
  /// Limits: kMaxLineBytes for the line of an entry, kMaxBatchEntries for a batch. A bad_alloc leaves the session
  /// usable.
  [[nodiscard]] Result<AppendResult> append(std::vector<Entry> entries, const AppendOptions& options = {}) const;

  /// Begins a turn and returns its number, which is greater than that of every turn before. From now on appends with
  /// the number of an earlier turn are refused, whatever process or machine they come from: a writer that was suspended
  /// or cut off cannot write into a turn that another one has begun. Appends without a number are not concerned.
  /// Durable when it returns; costs a few syncs, or one round trip. Ends a lease of an earlier turn. Unsupported when
  /// the backend does not number turns.
  [[nodiscard]] Result<std::uint64_t> beginTurn() const;
  /// Begins a turn as beginTurn does, unless another one holds the session: Busy, at once, while the lease of another
  /// turn runs. The lease ends after `leaseMs` (1 to 3,600,000) by the store's clock, which is the server's in a
  /// database and this machine's elsewhere, so that the turn of a process that died ends by itself. InvalidArgument for
  /// other times. It holds off other leases alone: appends without a turn's number go on.
  [[nodiscard]] Result<std::uint64_t> leaseTurn(std::uint64_t leaseMs) const;
  /// Lets the lease of a turn end `leaseMs` from now (at most 3,600,000); 0 ends it. Conflict when a later turn has
  /// begun; without one, a lease that ran out meanwhile runs again.
  [[nodiscard]] Result<void> renewTurn(std::uint64_t turn, std::uint64_t leaseMs) const;

  /// The entries that the options ask for, with redacted payloads hidden and attachments brought back. What is damaged
  /// or lost is an entry of the type `unreadable`, so that one bad line keeps no other from being read. NotFound when
  /// LoadOptions::branch names no entry of the session. Costs the lines that are returned, and the redactions of the
  /// session; all of it is in memory at once, so use limits or a cursor for sessions of any length.
  [[nodiscard]] Result<std::vector<Entry>> load(const LoadOptions& options = {}) const;
  /// One entry, found through the index. NotFound when the session has none of that id.
  [[nodiscard]] Result<Entry> entry(const std::string& entryId) const;
  /// The entries at these sequences (the nodes of the tree), in this order. NotFound when the session has no such
  /// sequence.
  [[nodiscard]] Result<std::vector<Entry>> entriesAt(const std::vector<Sequence>& sequences) const;
  /// The sequence of an entry: its node in the tree. NotFound when the session has none of that id.
  [[nodiscard]] Result<Sequence> sequenceOf(const std::string& entryId) const;
  /// The ids that begin with `prefix`, in the session's order, at most `limit`. Reads the beginning of every line, also
  /// of the sessions whose history a fork shares.
  [[nodiscard]] Result<std::vector<std::string>> findEntryIds(const std::string& prefix, std::size_t limit) const;
  /// The conversation from its root to an entry, without control entries; to the head when `entryId` is left out. Empty
  /// when nothing was said yet. NotFound when the session has no such entry. All of it is in memory at once;
  /// buildContext (context.h) makes of it what a model gets.
  [[nodiscard]] Result<std::vector<Entry>> conversation(const std::string& entryId = {}) const;
  /// Gives `use` own entries from `fromSequence` of the session's own log on (0: the header), at most `limit`: not what
  /// a fork shares, and redacted or not. A payload whose attachment is missing or damaged is the reference to it. Reads
  /// at most 128 at a time.
  [[nodiscard]] Result<void> readOwn(std::uint64_t fromSequence, std::uint64_t limit,
                                     const std::function<void(std::uint64_t sequence, Entry& entry)>& use) const;
  /// Makes a cursor: entries in parts, from the beginning or after a stored position. NotFound when that entry is not
  /// there.
  [[nodiscard]] Result<SessionCursor> cursor(const std::string& position = {}) const;
  /// The same, waiting for what is appended. Watching begins now: nothing that comes after the position is missed. Io
  /// when the system has no watcher left.
  [[nodiscard]] Result<SessionFollower> follow(const std::string& position = {}) const;
  /// Gives the log as it is stored, line by line without line ends, to `line`, until it returns false: not what a fork
  /// shares, redacted payloads and references to attachments as they are. Lines that cannot be read are left out. In a
  /// database the lines are made of its rows. Damaged, retryable when the log is replaced meanwhile.
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) const;

  /// The session as a tree, from the index: no entry is read except labels and entries without a known parent. The tree
  /// is a copy of its own, about a byte an entry, and does not see later appends. Unsupported beyond 4 billion entries.
  [[nodiscard]] Result<SessionTree> tree() const;
  /// The entry that the next turn continues from; empty before the first. Costs as much as state().
  [[nodiscard]] Result<std::string> head() const;
  /// Moves the head by a `head` entry, durably. An empty id moves it before the first entry.
  /// NotFound: the session has no such entry. InvalidArgument: a control entry or a header cannot be the head. Fails
  /// otherwise as append does, as all calls below that return an AppendResult.
  [[nodiscard]] Result<AppendResult> moveHead(const std::string& entryId) const;
  /// Compares two branches, entry by entry, each given by the entry it ends in (empty: the head). Entries are equal
  /// when type and payload are, byte for byte. The other session may be in another store. NotFound when a session has
  /// no such entry, InvalidArgument when it is not part of the conversation. Costs two trees; of branches of two
  /// sessions also the entries from the end of what they share to the first difference, 32 of each at a time.
  [[nodiscard]] Result<BranchDiff> diff(const std::string& entryId, const Session& other,
                                        const std::string& otherEntryId) const;
  /// Makes a session that continues from an entry of this one and shares its history, durably. Costs the same for any
  /// size: one new file, and appends to this session wait meanwhile. From now on this one cannot be removed without the
  /// fork (HasForks).
  ///
  /// NotFound: the session has no such entry. InvalidArgument: a fork cannot continue from a control entry or a header,
  /// or `session` breaks a rule. AlreadyExists: there is a session of that id.
  [[nodiscard]] Result<Session> fork(const std::string& entryId, const NewSession& session = {}) const;

  /// Gives an entry a name, durably; a label of that name moves. Names are 1 to 128 bytes of printable text without
  /// `~`, with no blank at either end, that do not begin with `@` and are not `-`. A fork also has the labels of the
  /// history it shares. InvalidArgument: the name breaks that rule, or a control entry or a header cannot be labelled.
  /// NotFound: the session has no such entry.
  [[nodiscard]] Result<AppendResult> label(const std::string& entryId, const std::string& name) const;
  /// All labels, by name: of each name the last one that was given. Reads the entries of labels and redactions.
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() const;
  /// Takes a name away, durably; in a fork also one that the shared history gives. NotFound when there is no such
  /// label.
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& name) const;
  /// Moves the head to a labelled entry. NotFound when there is no such label.
  [[nodiscard]] Result<AppendResult> moveHeadToLabel(const std::string& name) const;
  /// Gives the session a title, durably; the last one counts. It is any text of UTF-8. appendSessionInfo (catalog.h)
  /// says more at once.
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& title) const;
  /// Appends a summary of another branch after the head, and moves the head to it. What it names is not looked up.
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const BranchSummary& summary) const;
  /// Hides an entry's payload from every derived view, durably; the log keeps it, and LoadOptions::showRedacted shows
  /// it. StoreMaintenance::erase removes it. InvalidArgument: `by` or `reason` is
  /// empty, or the entry is a header, a head entry or a redaction, by which a session is read. NotFound: the session
  /// has no such entry.
  [[nodiscard]] Result<AppendResult> redact(const std::string& entryId, const std::string& by,
                                            const std::string& reason) const;

  struct State;  ///< Not part of the interface.

 private:
  friend class SessionStore;
  explicit Session(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Gives `use` the entries at these sequences, in this order, until it returns false. Reads 16 to 256 at a time, fewer
/// where they are long: for lists of any length. Fails as Session::entriesAt does, after what was given before.
[[nodiscard]] Result<void> forEachEntryAt(const Session& session, const std::vector<Sequence>& sequences,
                                          const std::function<bool(const Entry&)>& use);

}  // namespace BOUGH_PUBLIC bough
