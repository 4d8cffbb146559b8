// StoreMaintenance: the upkeep of a store. Verify, repair, migrate, archive; the trash; attachments.
//
// Made by SessionStore::maintenance; a handle as Session is, and as safe to use from any thread. A backend may lack
// some of this: such calls return Unsupported and say what is missing. What is buffered for a session is flushed first.
//
// Failures: besides what each call names, every call may return NotFound (there is no such session), Closed, ReadOnly,
// NoSpace, Busy (another process held a lock for longer than StoreOptions::lockTimeoutMs) or Io, and over a database
// Unavailable or Timeout. What was begun and not finished is finished by calling again; a session is at every moment
// as it was before or as it is afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace BOUGH_PUBLIC bough {

/// What can be wrong with a session. The order is that of isNote: notes come first.
enum class ProblemKind : std::uint8_t {
  // Notes: readable all the same.
  Unsealed,    ///< A line without a seal, or with members in another order: made by hand or by another tool.
  LineEnding,  ///< A byte order mark, CRLF, or a blank line.
  Leftover,    ///< A compressed copy beside the log that holds nothing more; `repair` removes it.
  // Problems: something cannot be read, or says what cannot be.
  Torn,           ///< Bytes after the last complete batch; the next append or `repair` moves them aside.
  Damage,         ///< A line that is not what was written. It is skipped; its bytes stay.
  BrokenBatch,    ///< A batch in the middle of the file of which lines are missing.
  DuplicateId,    ///< A second entry of the same id; the first one counts.
  UnknownParent,  ///< The parent, or the new head, is not an earlier entry: a branch without a known root begins, or
                  ///< the head stays.
  Header,         ///< The header is missing, repeated, or of a newer format.
  Attachment,     ///< An attachment is missing or not what its name says.
  OtherCopy,      ///< A compressed copy beside the log that holds something else; it is not read.
  Missing,        ///< The log is gone, though nobody removed the session with bough.
};

/// The stable name of a kind, as `--json` prints it ("unknown_parent").
std::string_view toString(ProblemKind kind);

/// What to do about it, or what it means when nothing can be done: a sentence for people.
std::string_view remedyFor(ProblemKind kind);

/// Whether reading loses nothing by it.
constexpr bool isNote(ProblemKind kind) {
  return kind <= ProblemKind::Leftover;
}

/// One thing that is not as it should be, and where.
struct Problem {
  ProblemKind kind = ProblemKind::Damage;
  std::uint64_t offset = 0;  ///< In the session file (in its unpacked bytes when it is compressed).
  std::uint64_t bytes = 0;   ///< How many bytes from there on; 0 when it is about the session as a whole.
  std::string message = {};  ///< For people.
};

/// What verify found. The list has a limit, the counts have none.
struct VerifyReport {
  std::string sessionId = {};
  std::string file = {};      ///< Its path; empty when the session is in no file.
  std::uint64_t entries = 0;  ///< That can be read.
  std::uint64_t bytes = 0;    ///< Of the log, torn bytes included.
  /// In file order, at most kMaxListed of them; then those of compressed copies beside the log.
  std::vector<Problem> problems = {};
  std::uint64_t problemCount = 0;  ///< Without notes, listed or not.
  std::uint64_t noteCount = 0;     ///< Notes, listed or not.

  static constexpr std::size_t kMaxListed = 1000;
};

/// What repair did, and what it left as it is.
struct RepairReport {
  std::string sessionId = {};
  std::uint64_t tornBytes = 0;     ///< Moved to <session>.torn.
  std::uint64_t damagedLines = 0;  ///< In the middle of the file: they stay where they are and are skipped.
  bool indexRebuilt = false;
  std::vector<std::string> removedFiles = {};  ///< Left behind by an interrupted operation, and needed by none.
  std::vector<std::string> otherCopies = {};   ///< Compressed files beside the log that hold something else; they stay.
  std::string path = {};                       ///< Of the log that is read, when otherCopies are beside it.
  /// Why the session still cannot be appended to: its format is not the present one, or an archive cannot be unpacked
  /// (then it is left as it is); or the session that it continues is not there.
  std::optional<Error> refusal = {};
};

struct MigrationResult {
  std::string sessionId = {};
  int fromFormat = 0;  ///< Equal to toFormat when there was nothing to do, or when only the header was lost.
  int toFormat = 0;
  std::uint64_t entries = 0;           ///< Of the new file.
  std::string keptAs = {};             ///< Where the old file is; empty when there was nothing to do.
  std::vector<Problem> problems = {};  ///< Lines of the old file that could not be read; they are in `keptAs`.
};

/// A session in the trash.
struct TrashedSession {
  std::string trashId = {};  ///< Names it there: a session can be in the trash more than once.
  std::string sessionId = {};
  std::uint64_t removedMs = 0;  ///< Since 1970.
  std::uint64_t bytes = 0;      ///< Of its files.
};

/// A session to remove, and what must hold at that moment, while nobody can append to it or fork it.
struct Removal {
  std::string sessionId = {};
  std::optional<std::string> expectedTail = {};  ///< Conflict when the session was appended to since.
  bool detachForks = false;                      ///< First give each fork its own copy of what it shares.
};

/// How large a session's log is unpacked, and how large its archive is; also of one that was archived before.
struct ArchiveResult {
  std::string sessionId = {};
  std::uint64_t bytesBefore = 0;
  std::uint64_t bytesAfter = 0;
};

/// Entries to erase for good, and what their receipts say.
struct Erasure {
  std::string sessionId = {};
  /// Own ones of the session, or of the history that it shares; 1 to 10,000.
  std::vector<std::string> entryIds = {};
  std::string by = {};      ///< Who asks for it: 1 to 4,096 bytes of text, kept in the receipts.
  std::string reason = {};  ///< Likewise.
};

/// One entry whose payload went.
struct ErasedEntry {
  std::string entryId = {};
  std::string receiptId = {};  ///< The redaction entry that takes the place of the payload.
  std::string sha256 = {};     ///< Of the payload that went, in upper case.
  std::uint64_t bytes = 0;
};

/// What an erasure did. Whoever must show that all is gone looks whether `unreached` is empty.
struct ErasureReport {
  std::string sessionId = {};
  std::string timestamp = {};  ///< Of the receipts.
  /// Those that were named, and those that were converted from them for another provider.
  std::vector<ErasedEntry> entries = {};
  std::vector<std::string> rewritten = {};  ///< Sessions and trash ids whose files held one of them.
  std::uint64_t removedAttachments = 0;
  std::vector<std::string> keptAttachments = {};  ///< Still named by entries that were not erased.
  std::vector<std::string> unreached = {};  ///< Files of the store that hold one and could not be rewritten, and why.
};

/// The upkeep of one store. A copy is as good as the original; it may outlive the store's object, and its calls then
/// return Closed.
class StoreMaintenance {
 public:
  /// Looks at every byte of a session. Changes nothing. What is wrong is in the report, not an error. Costs two reads
  /// of the whole log, one of the attachments it names, and memory for its ids. A store in memory has nothing to look
  /// at.
  [[nodiscard]] Result<VerifyReport> verify(const std::string& sessionId) const;
  /// Does what opening for append would do: moves torn bytes aside, rebuilds the index, removes leftovers. Damaged
  /// lines stay. Holds the session's lock meanwhile. Where nothing can be torn (memory, a database) it changes nothing.
  [[nodiscard]] Result<RepairReport> repair(const std::string& sessionId) const;
  /// Brings a session of an older format to the present one; the old file is kept beside it. Also makes a new header
  /// where that is lost. Does nothing to a session of the present format. NewerFormat when a newer version of bough
  /// wrote it; Damaged when it was a fork and what is left of its header does not say of what. Costs one read and one
  /// write of the log, and another read that compares the two.
  [[nodiscard]] Result<MigrationResult> migrate(const std::string& sessionId) const;
  /// Compresses a session; it is read as before, and the next append brings it back. Does nothing to an archived one.
  /// Damaged when a compressed copy beside it holds something else. Costs a read and a compressed write of the log, and
  /// a read of the result before the log goes. Stores in a folder alone; Unsupported elsewhere.
  [[nodiscard]] Result<ArchiveResult> archive(const std::string& sessionId) const;
  /// Removes the payloads of entries for good: from the log, from copies that other sessions have, from torn bytes, old
  /// formats, archives, attachments, the trash, and from what is derived. The tree stays: ids, parents, types, times. A
  /// receipt takes each payload's place. Interrupted, it is finished when the store is next opened. Cannot reach other
  /// stores, exports, backups, and processes that have read the entry.
  ///
  /// NotFound: the session has no such entry. InvalidArgument: one was erased before, or is a header, a head entry or a
  /// redaction, by which a session is read; or Erasure's limits are broken. Nothing is changed then. Busy: sessions
  /// that hold it change again and again; the rest is done when the store is next opened. Costs at least two reads of
  /// the whole store.
  [[nodiscard]] Result<ErasureReport> erase(const Erasure& erasure) const;
  /// Gives a fork its own copy of what it shares, so that what it continues can be removed. Does that again when the
  /// fork is appended to meanwhile. Damaged, and nothing is changed, when a part of either cannot be read, or torn
  /// bytes are left. Costs a read and a write of all that the fork shares and holds, which is in memory at once.
  [[nodiscard]] Result<void> detach(const std::string& forkId) const;
  /// The same when the session that a fork continues is lost (SessionState::lostSession): what is left becomes its own.
  [[nodiscard]] Result<void> detachRest(const std::string& forkId) const;

  /// The sessions that continue this one's history, directly. Costs one look at the header of every session, or one
  /// query.
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) const;
  /// Removes a session forever, durably. HasForks, with their names, when others share its history, in the trash or
  /// not; Damaged when that cannot be known of one; Conflict when Removal::expectedTail is not its tail any more.
  /// Attachments stay until removeUnusedAttachments. Costs one look at every session.
  [[nodiscard]] Result<void> remove(const Removal& removal) const;
  /// Moves sessions to the trash, each by itself, with one look at the store for all of them. A session and its forks
  /// may go together. The results are in the order of the requests; refused as with remove(), except that forks in the
  /// trash do not count.
  [[nodiscard]] std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) const;
  /// All sessions in the trash, most recent first. In a folder, finishes a move to or from the trash that was
  /// interrupted.
  [[nodiscard]] Result<std::vector<TrashedSession>> listTrash() const;
  /// As Session::exportLines, of a session in the trash. NotFound when it is not there.
  [[nodiscard]] Result<void> exportTrashed(const std::string& trashId,
                                           const std::function<bool(std::string_view)>& line) const;
  /// Brings a session back from the trash, durably, under the id that it had. AlreadyExists when that is taken again;
  /// NotFound when it is not in the trash, or when it is a fork and the session or the entry that it continues is not
  /// in the store.
  [[nodiscard]] Result<void> restore(const std::string& trashId) const;
  /// Removes sessions from the trash forever; returns how many bytes came back. What is not in the trash is passed
  /// over. HasForks, and nothing is removed, when one that stays shares the history of one that would go; Damaged when
  /// that cannot be known. Costs one look at every session, in the trash and out of it.
  [[nodiscard]] Result<std::uint64_t> emptyTrash(const std::vector<std::string>& trashIds) const;
  /// Of sessions that were in the store and are not any more, those that were neither moved to the trash nor removed
  /// for good with bough: their files were deleted, or are lost.
  [[nodiscard]] Result<std::vector<std::string>> missing(std::vector<std::string> sessionIds) const;

  /// Stores bytes once, by content, durably; returns their SHA-256 as 64 lower-case hex digits. They are unused until
  /// an entry holds these digits: removeUnusedAttachments may take them away before.
  [[nodiscard]] Result<std::string> putAttachment(std::string_view bytes) const;
  /// Returns the bytes, all in memory, checked against their name. NotFound when they are missing; Damaged when they
  /// are not what their name says; InvalidArgument when that is not 64 lower-case hex digits.
  [[nodiscard]] Result<std::string> readAttachment(const std::string& sha256) const;
  /// Attachments that no entry of any session names, and what an interrupted writing left: its digits, and `.….tmp`. An
  /// entry names one by holding its 64 hex digits. Damaged when a session, in the trash or not, cannot be read whole:
  /// what it names is unknown. Costs one read of every session and of the trash.
  [[nodiscard]] Result<std::vector<std::string>> findUnusedAttachments() const;
  /// Removes those of the given ones that are still unused; returns how many. Fails as findUnusedAttachments does, and
  /// costs as much; InvalidArgument, and nothing is removed, when one cannot be what that names. In a folder appends
  /// with large payloads wait meanwhile.
  [[nodiscard]] Result<std::size_t> removeUnusedAttachments(const std::vector<std::string>& sha256s) const;

  struct Store;  ///< Not part of the interface.

 private:
  friend class SessionStore;
  explicit StoreMaintenance(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::shared_ptr<Store> store_;
};

}  // namespace BOUGH_PUBLIC bough
