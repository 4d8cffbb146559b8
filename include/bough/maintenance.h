// StoreMaintenance: the upkeep of a store. It verifies, repairs, migrates and archives sessions, and manages the trash
// and the attachments.
//
// Made by SessionStore::maintenance. It is a handle like Session, and any thread may use it. A backend may lack some of
// these parts; the calls then return Unsupported and name the missing part. Calls on a session first flush what is
// buffered for that session.
//
// Failures: besides the errors that each call names, every call may return NotFound (there is no such session), Closed,
// ReadOnly, NoSpace, Busy (another process held a lock for longer than StoreOptions::lockTimeoutMs) or Io, and over a
// database Unavailable or Timeout. To complete a call that was interrupted, call again: at every moment a session is
// either as it was before the call or as it is after it.
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

/// What can be wrong with a session. Notes come first; isNote depends on the order.
enum class ProblemKind : std::uint8_t {
  // Notes: the session can be read completely nevertheless.
  Unsealed,    ///< A line without a seal, or with members in another order: written by hand or by another tool.
  LineEnding,  ///< A byte order mark, CRLF, or a blank line.
  Leftover,    ///< A compressed copy beside the log that holds nothing more than the log; `repair` removes it.
  // Problems: something cannot be read, or refers to something that cannot be read.
  Torn,           ///< Bytes after the last complete batch; the next append or `repair` moves them aside.
  Damage,         ///< A line that differs from what was written. It is skipped; its bytes stay.
  BrokenBatch,    ///< A batch in the middle of the file, some of whose lines are missing.
  DuplicateId,    ///< A second entry with the same id; the first entry counts.
  UnknownParent,  ///< The parent, or the new head, is not an earlier entry. The entry becomes a root, or the head does
                  ///< not move.
  Header,         ///< The header is missing, repeated, or of a newer format.
  Attachment,     ///< An attachment is missing, or its content does not match its name.
  OtherCopy,      ///< A compressed copy beside the log that differs from the log; it is not read.
  Missing,        ///< The log is gone, although it was not removed with bough.
};

/// Returns the stable name of a kind, as `--json` prints it ("unknown_parent").
std::string_view toString(ProblemKind kind);

/// Returns a sentence for people: what to do about the problem, or what it means when nothing can be done.
std::string_view remedyFor(ProblemKind kind);

/// Returns true when the session can be read completely despite the problem.
constexpr bool isNote(ProblemKind kind) {
  return kind <= ProblemKind::Leftover;
}

/// One defect of a session, and its place.
struct Problem {
  ProblemKind kind = ProblemKind::Damage;
  std::uint64_t offset = 0;  ///< In the session file (in the unpacked bytes when the file is compressed).
  std::uint64_t bytes = 0;   ///< How many bytes from there; 0 when the defect concerns the whole session.
  std::string message = {};  ///< For people.
};

/// What verify found. The list is limited; the counts are not.
struct VerifyReport {
  std::string sessionId = {};
  std::string file = {};      ///< Path of the session file; empty when the session is not in a file.
  std::uint64_t entries = 0;  ///< Entries that can be read.
  std::uint64_t bytes = 0;    ///< Size of the log, including torn bytes.
  /// At most kMaxListed, in file order; then those of compressed copies beside the log.
  std::vector<Problem> problems = {};
  std::uint64_t problemCount = 0;  ///< All problems except notes, listed or not.
  std::uint64_t noteCount = 0;     ///< All notes, listed or not.

  static constexpr std::size_t kMaxListed = 1000;
};

/// What repair did, and what it left unchanged.
struct RepairReport {
  std::string sessionId = {};
  std::uint64_t tornBytes = 0;     ///< Moved to <session>.torn.
  std::uint64_t damagedLines = 0;  ///< In the middle of the file: they stay in place and are skipped.
  bool indexRebuilt = false;
  std::vector<std::string> removedFiles = {};  ///< Leftovers of an interrupted operation that nothing needs.
  std::vector<std::string> otherCopies = {};   ///< Compressed files beside the log that differ from it; they stay.
  std::string path = {};                       ///< Of the log that is read, when there are otherCopies.
  /// Why nothing can be appended to the session yet: its format is not the current one; an archive cannot be unpacked
  /// (it is left unchanged); or the session that it continues does not exist.
  std::optional<Error> refusal = {};
};

struct MigrationResult {
  std::string sessionId = {};
  int fromFormat = 0;  ///< Equal to toFormat when nothing was done, or when only the header was lost.
  int toFormat = 0;
  std::uint64_t entries = 0;           ///< In the new file.
  std::string keptAs = {};             ///< Path of the old file; empty when nothing was done.
  std::vector<Problem> problems = {};  ///< Lines of the old file that could not be read; they are in `keptAs`.
};

/// A session in the trash.
struct TrashedSession {
  std::string trashId = {};  ///< Its name in the trash: a session can be in the trash more than once.
  std::string sessionId = {};
  std::uint64_t removedMs = 0;  ///< Since 1970.
  std::uint64_t bytes = 0;      ///< Size of its files.
};

/// A session to remove, and conditions that are checked while no one can append to it or fork it.
struct Removal {
  std::string sessionId = {};
  std::optional<std::string> expectedTail = {};  ///< Conflict when the session has another tail.
  bool detachForks = false;                      ///< First give each fork its own copy of the history that it shares.
};

/// The size of a session's log, unpacked, and the size of its archive. Also set when the session was already archived.
struct ArchiveResult {
  std::string sessionId = {};
  std::uint64_t bytesBefore = 0;
  std::uint64_t bytesAfter = 0;
};

/// Entries to erase forever, and the text of their receipts.
struct Erasure {
  std::string sessionId = {};
  /// Entries of the session or of the history that it shares; 1 to 10,000.
  std::vector<std::string> entryIds = {};
  std::string by = {};      ///< Who requests the erasure: 1 to 4,096 bytes of text, kept in the receipts.
  std::string reason = {};  ///< Why: 1 to 4,096 bytes of text, kept in the receipts.
};

/// One entry whose payload was erased.
struct ErasedEntry {
  std::string entryId = {};
  std::string receiptId = {};  ///< The redaction entry that replaces the payload.
  std::string sha256 = {};     ///< Of the erased payload, in upper case.
  std::uint64_t bytes = 0;
};

/// The result of an erasure. Everything was erased if `unreached` is empty.
struct ErasureReport {
  std::string sessionId = {};
  std::string timestamp = {};  ///< Of the receipts.
  /// The entries that were named, and the entries that were converted from them for other providers.
  std::vector<ErasedEntry> entries = {};
  std::vector<std::string> rewritten = {};  ///< Sessions and trash ids whose files held one of them.
  std::uint64_t removedAttachments = 0;
  std::vector<std::string> keptAttachments = {};  ///< Attachments that entries which were not erased still name.
  std::vector<std::string> unreached = {};  ///< Files of the store that hold an entry and could not be rewritten, and
                                            ///< why.
};

/// The upkeep of one store. It is a handle: copies are equivalent. It may outlive the store object; its calls then
/// return Closed.
class StoreMaintenance {
 public:
  /// Checks every byte of a session. Changes nothing. Defects are in the report, not an error. Costs two reads of the
  /// whole log, one read of the attachments that it names, and memory for its ids. For a store in memory there is
  /// nothing to check.
  [[nodiscard]] Result<VerifyReport> verify(const std::string& sessionId) const;
  /// Does what opening the session for append would do: moves torn bytes aside, rebuilds the index, removes leftovers.
  /// Damaged lines stay. Holds the session's lock meanwhile. Changes nothing where nothing can be torn (memory, a
  /// database).
  [[nodiscard]] Result<RepairReport> repair(const std::string& sessionId) const;
  /// Converts a session of an older format to the current one, and keeps the old file beside it. Also writes a new
  /// header when the header is lost. Does nothing to a session of the current format. NewerFormat when a newer version
  /// of bough wrote the session; Damaged when it was a fork and the rest of its header does not name its origin. Costs
  /// one read and one write of the log, and another read to compare the two.
  [[nodiscard]] Result<MigrationResult> migrate(const std::string& sessionId) const;
  /// Compresses a session. It can be read as before, and the next append unpacks it. Does nothing to an archived
  /// session. Damaged when a compressed copy beside the log differs from the log. Costs a read of the log, a compressed
  /// write, and a read of the result before the log is removed. Only for stores in a folder; Unsupported elsewhere.
  [[nodiscard]] Result<ArchiveResult> archive(const std::string& sessionId) const;
  /// Removes the payloads of entries forever: from the log, from copies in other sessions, from torn bytes, files of
  /// old formats, archives, attachments and the trash, and from derived data. The tree stays: ids, parents, types and
  /// times. A receipt replaces each payload. An interrupted erasure is completed when the store is next opened. The
  /// call cannot reach other stores, exports, backups, or processes that have read the entry.
  ///
  /// NotFound: the session has no such entry. InvalidArgument: an entry was erased before, or it is a header, a head
  /// entry or a redaction, which are needed to read the session; or a limit of Erasure is exceeded. After these errors
  /// nothing is changed. Busy: other processes keep changing sessions that hold the payload; the rest is erased when
  /// the store is next opened. Costs at least two reads of the whole store.
  [[nodiscard]] Result<ErasureReport> erase(const Erasure& erasure) const;
  /// Gives a fork its own copy of the history that it shares, so that the session it continues can be removed. Starts
  /// again when entries are appended to the fork meanwhile. Damaged, and nothing is changed, when a part of either
  /// session cannot be read, or when there are torn bytes. Costs a read and a write of everything that the fork shares
  /// and holds, all of it in memory at once.
  [[nodiscard]] Result<void> detach(const std::string& forkId) const;
  /// Does the same when the session that the fork continues is lost (SessionState::lostSession): the part that is left
  /// becomes the fork's own.
  [[nodiscard]] Result<void> detachRest(const std::string& forkId) const;

  /// Returns the sessions that directly continue the history of this one. Costs one look at the header of every
  /// session, or one query.
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) const;
  /// Removes a session forever, durably. HasForks, naming them, when other sessions share its history, in the trash or
  /// not; Damaged when this cannot be determined for a session; Conflict when Removal::expectedTail is not the tail.
  /// Its attachments stay until removeUnusedAttachments. Costs one look at every session.
  [[nodiscard]] Result<void> remove(const Removal& removal) const;
  /// Moves sessions to the trash, each independently, with one look at the store for all of them. A session and its
  /// forks may be moved together. The results are in the order of the requests. Fails as remove() does, except that
  /// forks in the trash do not count.
  [[nodiscard]] std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) const;
  /// Returns all sessions in the trash, most recent first. In a folder, it also completes a move to or from the trash
  /// that was interrupted.
  [[nodiscard]] Result<std::vector<TrashedSession>> listTrash() const;
  /// Same as Session::exportLines, for a session in the trash. NotFound when it is not there.
  [[nodiscard]] Result<void> exportTrashed(const std::string& trashId,
                                           const std::function<bool(std::string_view)>& line) const;
  /// Restores a session from the trash, durably, under its old id. AlreadyExists when another session has that id now;
  /// NotFound when it is not in the trash, or when it is a fork and the session or entry that it continues is not in
  /// the store.
  [[nodiscard]] Result<void> restore(const std::string& trashId) const;
  /// Removes sessions from the trash forever, and returns how many bytes were freed. Ids that are not in the trash are
  /// ignored. HasForks, and nothing is removed, when a session that stays shares the history of one that would be
  /// removed; Damaged when this cannot be determined. Costs one look at every session, including those in the trash.
  [[nodiscard]] Result<std::uint64_t> emptyTrash(const std::vector<std::string>& trashIds) const;
  /// Of these sessions, which were once in the store, returns those that were neither moved to the trash nor removed
  /// forever with bough: their files were deleted or lost.
  [[nodiscard]] Result<std::vector<std::string>> missing(std::vector<std::string> sessionIds) const;

  /// Stores bytes once, by content, durably. Returns their SHA-256 as 64 lower-case hex digits. Until an entry contains
  /// these digits the attachment is unused, and removeUnusedAttachments may remove it.
  [[nodiscard]] Result<std::string> putAttachment(std::string_view bytes) const;
  /// Returns the bytes of an attachment, all in memory, checked against their digest. NotFound when they are missing;
  /// Damaged when they do not match the digest; InvalidArgument when `sha256` is not 64 lower-case hex digits.
  [[nodiscard]] Result<std::string> readAttachment(const std::string& sha256) const;
  /// Returns the attachments that no entry of any session names, as their digests, and the files that an interrupted
  /// write left (`.….tmp`). An entry names an attachment when it contains its 64 hex digits. Damaged when a session, in
  /// the trash or not, cannot be read completely, because the attachments that it names are unknown then. Costs one
  /// read of every session and of the trash.
  [[nodiscard]] Result<std::vector<std::string>> findUnusedAttachments() const;
  /// Removes those of the given attachments that are still unused; returns how many. Fails as findUnusedAttachments
  /// does, and costs as much; InvalidArgument, and nothing is removed, when a name cannot be one that
  /// findUnusedAttachments returned. In a folder, appends with large payloads wait meanwhile.
  [[nodiscard]] Result<std::size_t> removeUnusedAttachments(const std::vector<std::string>& sha256s) const;

  struct Store;  ///< Not part of the interface.

 private:
  friend class SessionStore;
  explicit StoreMaintenance(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::shared_ptr<Store> store_;
};

}  // namespace BOUGH_PUBLIC bough
