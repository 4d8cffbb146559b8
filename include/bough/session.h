// Session: one conversation of a store. It is a handle: cheap to copy, looked up once, and safe to keep.
//
// Threads: every call of Session may come from any thread, at the same time. Cursors and followers belong to one thread
// each. Handles may outlive the store's object; their calls then return Closed.
//
// Costs: an append is one write and one sync of the disk, however many entries the batch has. Reads go through the
// index: the last n entries cost n lines, wherever the session's other entries are.
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
  Sync,      ///< When it would survive a loss of power.
  Buffered,  ///< At once; it becomes durable at the next flush. A crash loses the unflushed tail, never half a batch.
};

struct AppendOptions {
  /// Conflict unless this is the tail. A batch that was stored before is recognized all the same.
  std::optional<std::string> expectedTail = {};
  std::optional<Durability> durability = {};  ///< The store's when left out.
  /// The number of a turn, from Session::beginTurn. Conflict when a later turn has begun since.
  std::optional<std::uint64_t> turn = {};
};

/// What a new session begins with.
struct NewSession {
  std::string sessionId = {};  ///< 1 to 100 of [A-Za-z0-9._-], no leading dot. Empty: a time-ordered UUID.
  std::string key = {};        ///< `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`.
  std::string cwd = {};
  std::string title = {};
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

/// Gives a session's entries in parts. Made by Session::cursor. One thread.
class SessionCursor {
 public:
  SessionCursor(SessionCursor&&) noexcept;
  SessionCursor& operator=(SessionCursor&&) noexcept;
  ~SessionCursor();

  /// The next entries, at most `count`; fewer at the end, where later calls return what was appended meanwhile, and
  /// when their payloads reach 64 MB together. None only at the end.
  [[nodiscard]] Result<std::vector<Entry>> next(std::size_t count);
  [[nodiscard]] Result<bool> hasMore() const;
  /// Back to the beginning.
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
/// stop().
class SessionFollower {
 public:
  SessionFollower(SessionFollower&&) noexcept;
  SessionFollower& operator=(SessionFollower&&) noexcept;
  ~SessionFollower();

  /// The entries after the position; waits for the first one. Empty when the time is over (-1: never) or after stop().
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
  [[nodiscard]] const std::string& id() const;
  /// Counts, tail, head, format: what is known without reading entries.
  [[nodiscard]] Result<SessionState> state() const;

  /// Appends a batch: all of it is stored, or nothing. Missing ids, times and parents are filled in. An entry that is
  /// stored already, under its id and with the same content, counts as a duplicate.
  ///
  /// Conflict: `expectedTail` is not the tail; Error::actualTail is. IdConflict: an entry of that id has other content.
  /// InvalidArgument: an entry breaks a rule; Error::batchPlace says which one. MigrationNeeded, NewerFormat: the
  /// session is not in the present format. NoSpace, ReadOnly, Poisoned: nothing was acknowledged. OutcomeUnknown:
  /// append the same entries with the same ids again.
  [[nodiscard]] Result<AppendResult> append(std::vector<Entry> entries, const AppendOptions& options = {}) const;

  /// Begins a turn and returns its number, which is greater than that of every turn before. From now on appends with
  /// the number of an earlier turn are refused, whatever process or machine they come from: a writer that was suspended
  /// or cut off cannot write into a turn that another one has begun. Appends without a number are not concerned.
  [[nodiscard]] Result<std::uint64_t> beginTurn() const;
  /// Begins a turn as beginTurn does, unless another one holds the session: Busy, at once, while the lease of another
  /// turn runs. The lease ends after `leaseMs` (1 to 3,600,000) by the store's clock, which is the server's in a
  /// database and this machine's elsewhere, so that the turn of a process that died ends by itself.
  [[nodiscard]] Result<std::uint64_t> leaseTurn(std::uint64_t leaseMs) const;
  /// Lets the lease of a turn end `leaseMs` from now; 0 ends it. Conflict when a later turn has begun.
  [[nodiscard]] Result<void> renewTurn(std::uint64_t turn, std::uint64_t leaseMs) const;

  /// The entries that the options ask for, with redacted payloads hidden and attachments brought back. What is damaged
  /// or lost is an entry of the type `unreadable`. NotFound when LoadOptions::branch names no entry of the session.
  [[nodiscard]] Result<std::vector<Entry>> load(const LoadOptions& options = {}) const;
  /// One entry, found through the index. NotFound when the session has none of that id.
  [[nodiscard]] Result<Entry> entry(const std::string& entryId) const;
  /// The entries at these sequences (the nodes of the tree), in this order.
  [[nodiscard]] Result<std::vector<Entry>> entriesAt(const std::vector<Sequence>& sequences) const;
  /// The sequence of an entry: its node in the tree. NotFound when the session has none of that id.
  [[nodiscard]] Result<Sequence> sequenceOf(const std::string& entryId) const;
  /// The ids that begin with `prefix`, in the session's order, at most `limit`. Reads the beginning of every line.
  [[nodiscard]] Result<std::vector<std::string>> findEntryIds(const std::string& prefix, std::size_t limit) const;
  /// The conversation from its root to an entry, without control entries; to the head when `entryId` is left out.
  [[nodiscard]] Result<std::vector<Entry>> conversation(const std::string& entryId = {}) const;
  /// Own entries from `fromSequence` of the session's own log on, at most `limit`: not what a fork shares, and redacted
  /// or not. A payload whose attachment cannot be read is the reference to it.
  [[nodiscard]] Result<void> readOwn(std::uint64_t fromSequence, std::uint64_t limit,
                                     const std::function<void(std::uint64_t sequence, Entry& entry)>& use) const;
  /// Entries in parts, from the beginning or after a stored position. NotFound when that entry is not there.
  [[nodiscard]] Result<SessionCursor> cursor(const std::string& position = {}) const;
  /// The same, waiting for what is appended. Every follower watches its session's file.
  [[nodiscard]] Result<SessionFollower> follow(const std::string& position = {}) const;
  /// Gives the log as it is stored, line by line, to `line`, until it returns false.
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) const;

  /// The session as a tree, from the index: no entry is read except labels and entries without a known parent.
  [[nodiscard]] Result<SessionTree> tree() const;
  /// The entry that the next turn continues from; empty before the first.
  [[nodiscard]] Result<std::string> head() const;
  /// Moves the head, durably. An empty id moves it before the first entry. NotFound, InvalidArgument: the entry cannot
  /// be the head.
  [[nodiscard]] Result<AppendResult> moveHead(const std::string& entryId) const;
  /// Compares two branches, entry by entry, each given by the entry it ends in (empty: the head). Entries are equal
  /// when type and payload are, byte for byte. The other session may be in another store.
  [[nodiscard]] Result<BranchDiff> diff(const std::string& entryId, const Session& other,
                                        const std::string& otherEntryId) const;
  /// Makes a session that continues from an entry of this one and shares its history. Costs the same for any size.
  /// AlreadyExists: there is a session of that id. InvalidArgument: a fork cannot continue from a control entry.
  [[nodiscard]] Result<Session> fork(const std::string& entryId, const NewSession& session = {}) const;

  /// Gives an entry a name, durably; a label of that name moves. Names are 1 to 128 bytes of printable text that
  /// neither begins with `@` nor holds `~`. A fork also has the labels of the history it shares.
  [[nodiscard]] Result<AppendResult> label(const std::string& entryId, const std::string& name) const;
  /// By name.
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() const;
  /// NotFound when there is no such label.
  [[nodiscard]] Result<AppendResult> removeLabel(const std::string& name) const;
  /// Moves the head to a labelled entry. NotFound when there is no such label.
  [[nodiscard]] Result<AppendResult> moveHeadToLabel(const std::string& name) const;
  [[nodiscard]] Result<AppendResult> setTitle(const std::string& title) const;
  /// Appends a summary of another branch after the head.
  [[nodiscard]] Result<AppendResult> appendBranchSummary(const BranchSummary& summary) const;
  /// Hides an entry's payload from every derived view; the log keeps it. `by` and `reason` must say something; a
  /// header, a head entry and a redaction cannot be hidden, since a session is read by them.
  [[nodiscard]] Result<AppendResult> redact(const std::string& entryId, const std::string& by,
                                            const std::string& reason) const;

  struct State;  ///< Not part of the interface.

 private:
  friend class SessionStore;
  explicit Session(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Gives `use` the entries at these sequences, in this order, until it returns false. Reads a few at a time, fewer
/// where they are long: for lists of any length.
Result<void> forEachEntryAt(const Session& session, const std::vector<Sequence>& sequences,
                            const std::function<bool(const Entry&)>& use);

}  // namespace BOUGH_PUBLIC bough
