// Session: one conversation in a store. It is a handle: looked up once, cheap to copy, and safe to keep.
//
// Threads: any thread may make any call of Session at any time. A cursor or a follower must be used by one thread.
// Handles may outlive the store object; their calls then return Closed.
//
// Costs: an append is one write and one sync of the disk, however many entries the batch has; appends of several
// threads share them. Reads use the index: the last n entries cost n lines, wherever the other entries of the session
// are. Over a database a call is one round trip unless it says otherwise.
//
// Buffered entries: every call that reads first flushes what this store has buffered for the session, so that callers
// read what they wrote. If that flush fails, the call fails with its error.
//
// Failures: besides the errors that each call names, every call may return NotFound (the session was removed), Closed
// (the store was closed), Damaged (stored bytes cannot be read; retryable while they are being replaced), Busy (another
// process held the lock for too long), Unavailable, Timeout or Io.
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
  Sync,  ///< When the batch is safe from a loss of power.
  /// Immediately, after the batch was checked against the rules of an append. The batch becomes durable at the next
  /// flush (see StoreOptions). A crash loses the entries that were not flushed, but never half a batch. If a flush
  /// cannot store a batch, the next call on the session returns the error. A batch with expectedTail, a turn or an
  /// attachment is written immediately, after everything that is buffered.
  Buffered,
};

struct AppendOptions {
  /// Return Conflict unless this is the tail (SessionState::tailId). A batch that is already stored counts as a
  /// duplicate even then.
  std::optional<std::string> expectedTail = {};
  std::optional<Durability> durability = {};  ///< std::nullopt: the store's.
  /// The number of a turn, from Session::beginTurn. Return Conflict when a later turn has begun since.
  std::optional<std::uint64_t> turn = {};
};

/// The properties of a new session.
struct NewSession {
  std::string sessionId = {};  ///< 1 to 100 of [A-Za-z0-9._-], no leading dot. Empty: a time-ordered UUID.
  /// `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`, or any text of at most 512 bytes of UTF-8
  /// without control characters. Many sessions may have one key.
  std::string key = {};
  std::string cwd = {};    ///< The folder that the session is about; any text. It is not checked.
  std::string title = {};  ///< Stored in a session_info entry after the header.
};

/// A summary of another branch, of the same session or of another one.
struct BranchSummary {
  std::string sourceSessionId = {};
  std::string sourceEntryId = {};  ///< The last entry of that branch.
  std::string summary = {};
};

/// The difference between two branches, of one session or of two: the part that both share, and the rest of each, root
/// first.
struct BranchDiff {
  std::vector<Sequence> common = {};  ///< Sequences in the left session.
  std::size_t sameEntries = 0;        ///< How many of `common` are the same entries; others have equal content.
  std::vector<Sequence> left = {};    ///< Sequences in the left session.
  std::vector<Sequence> right = {};   ///< Sequences in the right session.
};

/// Reads a session's entries in parts, in the session's order. Made by Session::cursor. Use it from one thread. It
/// holds no entries between calls, so memory is that of one part. May outlive the store object; its calls then return
/// Closed.
class SessionCursor {
 public:
  SessionCursor(SessionCursor&&) noexcept;
  SessionCursor& operator=(SessionCursor&&) noexcept;
  ~SessionCursor();

  /// Returns the next entries, at most `count`, in the form in which Session::load returns them. Returns fewer at the
  /// end and when their payloads reach 64 MiB together. An empty result means the end; later calls return what was
  /// appended since.
  ///
  /// NotFound when the session was replaced and no longer has the last entry that was returned; reset() starts again.
  /// After an error the position is unchanged.
  [[nodiscard]] Result<std::vector<Entry>> next(std::size_t count);
  /// Returns true when next() would return an entry. Costs reading one entry.
  [[nodiscard]] Result<bool> hasMore() const;
  /// Moves back to the beginning.
  void reset();
  /// Returns the id of the last entry that the cursor returned; empty at the beginning. It can be stored and passed to
  /// cursor() or follow() later, also in another process.
  [[nodiscard]] const std::string& position() const;

 private:
  friend class Session;
  struct State;
  explicit SessionCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns a session's entries as they are appended, by any process. Made by Session::follow. Use it from one thread;
/// only stop() may come from another. To follow many sessions from one thread, use SessionStore::followSessions.
class SessionFollower {
 public:
  SessionFollower(SessionFollower&&) noexcept;
  SessionFollower& operator=(SessionFollower&&) noexcept;
  ~SessionFollower();

  /// Waits for entries after the position and returns them, at most 256. Empty after the timeout (-1: wait forever) or
  /// after stop(). Fails as SessionCursor::next does, also during the wait: with Closed when the store is closed, with
  /// NotFound when the session is removed.
  [[nodiscard]] Result<std::vector<Entry>> next(int timeoutMs);
  /// Same as SessionCursor::position.
  [[nodiscard]] const std::string& position() const;
  /// Ends a next() that is waiting, and all later ones. Any thread may call it.
  void stop();

 private:
  friend class Session;
  struct State;
  explicit SessionFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A handle of one session. Made by SessionStore::session, SessionStore::create and Session::fork.
class Session {
 public:
  /// Returns the session's id. The reference lives as long as the handle.
  [[nodiscard]] const std::string& id() const;
  /// Returns what is known without reading entries except the header: counts, tail, head, format. Includes what other
  /// processes have appended.
  [[nodiscard]] Result<SessionState> state() const;

  /// Appends a batch: either all of it is stored, or nothing. Fills in missing ids, times and parents. An entry that is
  /// already stored with the same id and content counts as a duplicate, so a batch whose ids the caller chose is never
  /// stored twice.
  ///
  /// Conflict: `expectedTail` is not the tail (Error::actualTail is), or a later turn than `turn` has begun
  /// (Error::latestTurn). IdConflict: an entry with that id has other content. InvalidArgument: the batch is empty, an
  /// entry breaks a rule, or its parent does not exist; Error::batchPlace tells which entry. NotFound: the session was
  /// removed, or a control entry names an entry that does not exist. MigrationNeeded, NewerFormat: the session does not
  /// have the current format. NoSpace, ReadOnly: nothing was stored. Poisoned: nothing more is acknowledged until the
  /// store is reopened. OutcomeUnknown: append the same entries with the same ids again. Io or Busy, both retryable:
  /// the end of the log looks torn, and a catalog, an archive or a fork that may have counted those bytes could not be
  /// asked; nothing was changed.
  ///
  /// Limits: kMaxLineBytes for the line of an entry, kMaxBatchEntries for a batch. The session stays usable after a
  /// bad_alloc.
  [[nodiscard]] Result<AppendResult> append(std::vector<Entry> entries, const AppendOptions& options = {}) const;

  /// Begins a turn and returns its number, which is greater than that of every earlier turn. From now on, appends that
  /// carry the number of an earlier turn are refused, from any process or machine: a writer that was suspended or cut
  /// off cannot write into a turn that another writer has begun. Appends without a turn number are not affected. The
  /// turn is durable when the call returns; this costs a few syncs, or one round trip. Ends the lease of an earlier
  /// turn. Unsupported when the backend does not number turns.
  [[nodiscard]] Result<std::uint64_t> beginTurn() const;
  /// Begins a turn as beginTurn does, unless another turn holds the session: while the lease of another turn is
  /// running, returns Busy at once. The lease ends after `leaseMs` (1 to 3,600,000; InvalidArgument otherwise), so the
  /// turn of a process that died ends by itself. Time is measured by the store's clock: the server's for a database,
  /// this machine's otherwise. A lease only keeps out other leases; appends without a turn number still succeed.
  [[nodiscard]] Result<std::uint64_t> leaseTurn(std::uint64_t leaseMs) const;
  /// Makes the lease of a turn end `leaseMs` from now (at most 3,600,000); 0 ends it. Conflict when a later turn has
  /// begun. Otherwise a lease that has already expired starts again.
  [[nodiscard]] Result<void> renewTurn(std::uint64_t turn, std::uint64_t leaseMs) const;

  /// Returns the entries that the options select. Redacted payloads are hidden, and attachments are read back. A
  /// damaged or lost entry is returned as an entry of type `unreadable`, so that one bad line does not block the rest.
  /// NotFound when LoadOptions::branch is not an entry of the session. Costs the lines that are returned, and the
  /// session's redactions. The whole result is in memory; for long sessions, use the limits or a cursor.
  [[nodiscard]] Result<std::vector<Entry>> load(const LoadOptions& options = {}) const;
  /// Returns one entry, found through the index. NotFound when the session has no entry with that id.
  [[nodiscard]] Result<Entry> entry(const std::string& entryId) const;
  /// Returns the entries at these sequences (the nodes of the tree), in the given order. NotFound when the session has
  /// no such sequence.
  [[nodiscard]] Result<std::vector<Entry>> entriesAt(const std::vector<Sequence>& sequences) const;
  /// Returns the sequence of an entry, which is its node in the tree. NotFound when the session has no entry with that
  /// id.
  [[nodiscard]] Result<Sequence> sequenceOf(const std::string& entryId) const;
  /// Returns the ids that begin with `prefix`, in the session's order, at most `limit`. Reads the beginning of every
  /// line, including those of the sessions whose history a fork shares.
  [[nodiscard]] Result<std::vector<std::string>> findEntryIds(const std::string& prefix, std::size_t limit) const;
  /// Returns the conversation from its root to an entry, without control entries; without `entryId`, up to the head.
  /// Empty when the conversation has not begun. NotFound when the session has no such entry. The whole result is in
  /// memory. buildContext (context.h) turns a conversation into what a model gets.
  [[nodiscard]] Result<std::vector<Entry>> conversation(const std::string& entryId = {}) const;
  /// Passes the session's own entries to `use`: at most `limit`, from `fromSequence` of its own log (0: the header).
  /// Leaves out what a fork shares, and does not hide redacted payloads. When an attachment is missing or damaged, the
  /// payload is the reference to it. Reads at most 128 entries at a time.
  [[nodiscard]] Result<void> readOwn(std::uint64_t fromSequence, std::uint64_t limit,
                                     const std::function<void(std::uint64_t sequence, Entry& entry)>& use) const;
  /// Returns a cursor, which reads the entries in parts, from the beginning or after a stored position. NotFound when
  /// the entry at that position does not exist.
  [[nodiscard]] Result<SessionCursor> cursor(const std::string& position = {}) const;
  /// Returns a follower, which also waits for entries that are appended later. It watches from now on, so no entry
  /// after the position is missed. Io when the system has no watcher left.
  [[nodiscard]] Result<SessionFollower> follow(const std::string& position = {}) const;
  /// Passes the log as it is stored to `line`, one line at a time without line ends, until `line` returns false. Leaves
  /// out what a fork shares; redacted payloads and references to attachments stay as they are stored. Lines that cannot
  /// be read are left out. Over a database, the lines are made from its rows. Damaged and retryable when the log is
  /// replaced during the call.
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) const;

  /// Returns the session as a tree, built from the index. No entry is read except labels and entries without a known
  /// parent. The tree is a separate copy of about one byte per entry, and does not see later appends. Unsupported
  /// beyond 4 billion entries.
  [[nodiscard]] Result<SessionTree> tree() const;
  /// Returns the id of the entry that the next turn continues from; empty before the first entry. Costs as much as
  /// state().
  [[nodiscard]] Result<std::string> head() const;
  /// Moves the head, by a durable `head` entry. An empty id moves the head before the first entry. NotFound: the
  /// session has no such entry. InvalidArgument: a control entry or a header cannot be the head. Otherwise this call
  /// fails as append does, and so do all calls below that return an AppendResult.
  [[nodiscard]] Result<AppendResult> moveHead(const std::string& entryId) const;
  /// Compares two branches entry by entry. Each branch is named by the entry that it ends in (empty: the head). Two
  /// entries are equal when their types and payloads are equal, byte for byte. The other session may be in another
  /// store. NotFound when a session has no such entry; InvalidArgument when the entry is not part of the conversation.
  /// Costs two trees; for branches of two sessions, also the entries from the end of their shared part to the first
  /// difference, 32 of each at a time.
  [[nodiscard]] Result<BranchDiff> diff(const std::string& entryId, const Session& other,
                                        const std::string& otherEntryId) const;
  /// Creates a session that continues from an entry of this session and shares its history, durably. Costs one new
  /// file, whatever the size of the history; appends to this session wait meanwhile. From now on this session cannot be
  /// removed without the fork (HasForks).
  ///
  /// NotFound: the session has no such entry. InvalidArgument: a fork cannot continue from a control entry or a header,
  /// or `session` breaks a rule. AlreadyExists: a session with that id exists.
  [[nodiscard]] Result<Session> fork(const std::string& entryId, const NewSession& session = {}) const;

  /// Gives an entry a name, durably. If another entry has a label of that name, the label moves. A name is 1 to 128
  /// bytes of printable text without `~`, does not begin or end with a blank, does not begin with `@`, and is not `-`.
  /// A fork also has the labels of the history that it shares. InvalidArgument: the name breaks this rule, or the entry
  /// is a control entry or a header, which cannot have a label. NotFound: the session has no such entry.
  [[nodiscard]] Result<AppendResult> label(const std::string& entryId, const std::string& name) const;
  /// Returns all labels, sorted by name; for each name, the label that was set last. Reads the label and redaction
  /// entries.
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() const;
  /// Removes a label, durably; in a fork, also a label of the shared history. NotFound when there is no such label.
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& name) const;
  /// Moves the head to the entry with this label. NotFound when there is no such label.
  [[nodiscard]] Result<AppendResult> moveHeadToLabel(const std::string& name) const;
  /// Gives the session a title, durably; the last title counts. Any UTF-8 text is allowed. appendSessionInfo
  /// (catalog.h) can set other properties at the same time.
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& title) const;
  /// Appends a summary of another branch after the head, and moves the head to it. The session and entry that the
  /// summary names are not checked.
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const BranchSummary& summary) const;
  /// Hides an entry's payload from every derived view, durably. The log keeps the payload, and
  /// LoadOptions::showRedacted shows it; StoreMaintenance::erase removes it. InvalidArgument: `by` or `reason` is
  /// empty, or the entry is a header, a head entry or a redaction, which are needed to read the session. NotFound: the
  /// session has no such entry.
  [[nodiscard]] Result<AppendResult> redact(const std::string& entryId, const std::string& by,
                                            const std::string& reason) const;

  struct State;  ///< Not part of the interface.

 private:
  friend class SessionStore;
  explicit Session(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Passes the entries at these sequences to `use`, in the given order, until `use` returns false. Reads 16 to 256
/// entries at a time, fewer when they are long, so lists of any length are fine. Fails as Session::entriesAt does,
/// after passing on the entries before the error.
[[nodiscard]] Result<void> forEachEntryAt(const Session& session, const std::vector<Sequence>& sequences,
                                          const std::function<bool(const Entry&)>& use);

}  // namespace BOUGH_PUBLIC bough
