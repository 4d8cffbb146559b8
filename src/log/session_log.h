// One open session log: reads its entries, and is the only way to append to it.
//
// Reading. Each call first checks whether the file has grown, shrunk or been replaced, and scans only the new part. So
// what another process appended is visible to the next call. Readers do not lock the file. A line is checked against
// its seal each time it is read. If the check fails, or the index turns out to be wrong, the whole log is scanned
// again.
//
// Appending. All steps up to the sync run under an exclusive lock on the file. The kernel drops the lock when the
// process dies.
//   1. Catch up with what others appended. Move torn bytes aside: nobody can be writing them, because we hold the lock.
//   2. Sync what others wrote, and the name of the file, unless both are known to be synced. A batch is written only
//      after durable bytes, so a crash can tear the last batch and no other. Before the sync, the last batch is written
//      again, unchanged: if a sync failed in another process, the batch may exist in memory only.
//   3. Let the waiting appends check themselves against the current log. Seal all their entries as one batch.
//   4. Write the batch with one write. While the disk works, add the entries to the index and check that the file still
//      has the session's name. Release the lock, sync once, then acknowledge the appends.
// A batch is truncated again when its write fails, or when it went to a file that has lost the session's name. A failed
// sync poisons this object: the state of the disk is unknown, so nothing more is acknowledged until the session is
// opened again. The batch itself stays in the file, because others may have built on it meanwhile.
//
// The parts, each with its own fields: the file with its name and lock (log_file.h), its index (log_index.h), reading
// lines (stored_lines.h), the outline (log_outline.h), the torn tail (torn_tail.h), the batch writer (batch_writer.h).
// log_parts.h holds those that one mutex guards. A child of fork(2) makes new parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/model/branch_part.h"
#include "base/system/environment.h"
#include "base/system/process_state.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"
#include "bough/storage_backend.h"
#include "log/batch_lines.h"
#include "log/file/log_files.h"
#include "log/index/counted_elsewhere.h"
#include "log/index/log_index.h"
#include "log/index/offset_index.h"

namespace bough {

/// The condition in which an append found the log when it opened it.
struct LogCondition {
  std::uint64_t tornBytes = 0;     ///< Bytes that were moved aside.
  std::uint64_t problemCount = 0;  ///< Damaged places that readers skip.
};

/// What an append may ask of the log while it holds the lock. Appends that come before it in its group already move the
/// tail and the head, but their entries cannot be found here yet.
class LogView {
 public:
  virtual ~LogView() = default;
  /// Returns std::nullopt when the log has no such entry.
  virtual Result<std::optional<Entry>> entryOf(std::string_view id) = 0;
  virtual Result<bool> contains(std::string_view id) = 0;
  [[nodiscard]] virtual std::string_view tailId() const = 0;
  /// Empty before the first entry.
  [[nodiscard]] virtual std::string_view headId() = 0;
  /// See SessionLog::headOfFork.
  virtual Result<std::string> headOfFork(const IsShared& /*isShared*/) { return std::string(headId()); }
  /// See SessionLog::generation.
  [[nodiscard]] virtual std::uint64_t generation() const { return 0; }
  [[nodiscard]] virtual LogCondition condition() const { return {}; }
};

/// One caller's append.
class AppendWork {
 public:
  virtual ~AppendWork() = default;
  /// Checks itself against the log and adds its lines after those of the earlier appends in its group. When it fails,
  /// the caller removes the lines that it added. If the index had to be rebuilt, this is called again and starts from
  /// the beginning.
  virtual Result<void> prepare(LogView& log, BatchLines& lines) = 0;
  /// Frees the data that the lines were made from: the lines are written. Called while the disk works, at most once.
  virtual void release() = 0;
  /// Called once with the outcome.
  virtual void setOutcome(Result<void> outcome) = 0;
};

/// The first readable line of a log.
struct FirstLine {
  std::string_view text;
  std::uint64_t offset = 0;  ///< Greater than 0 when the bytes before it are unreadable.
  std::string path;
};

class StoredLines;

class SessionLog {
 public:
  /// What a closed log leaves behind, so that a log that is opened later can be recognized as the same one.
  struct Identity {
    std::uint64_t generation = 0;
    IndexSummary summary = {};
    std::optional<FileInfo> file = {};  ///< The file when all of it was known; std::nullopt for an archive.
  };

  struct Options {
    int lockTimeoutMs = 30'000;
    bool writeIndex = true;
    /// Decides whether the file may be written to. Called before the first append, and again when the file was
    /// replaced.
    std::function<Result<void>(const FirstLine&)> mayAppend = {};
    /// Called when bytes at the end look torn, before they are treated as torn.
    AskElsewhere askElsewhere = {};
    /// The log continues with this generation if it is still the same log.
    std::optional<Identity> previousIdentity = {};
  };

  static Result<std::shared_ptr<SessionLog>> open(LogFolders folders, std::string sessionId,
                                                  const EntrySerializer& serializer, Environment& environment,
                                                  Options options);
  ~SessionLog();

  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }

  /// Returns all of the state except what the header says: origin, format, lostSession.
  Result<SessionState> state();
  /// Returns the head of a fork. Here, a head entry has no effect if it names neither an entry of the log nor a shared
  /// one. state(), in contrast, returns the head exactly as the entry names it.
  Result<std::string> headOfFork(const IsShared& isShared);
  /// Changes when the file was replaced or changed, so that existing lines may be different. Appends do not change it.
  [[nodiscard]] std::uint64_t generation();
  /// Returns the generation after checking the file.
  Result<std::uint64_t> freshGeneration();
  /// Returns std::nullopt while the log is in use, and for a log with damage or with lines without a seal. Does not
  /// wait.
  std::optional<Identity> identity();
  /// The first line, and the generation that it belongs to.
  struct Header {
    std::string text;
    std::uint64_t generation = 0;
  };
  Result<Header> header();
  /// Returns the bytes before the first readable entry, at most 64 KiB. Empty for a sound log.
  Result<std::string> unreadableBeginning();

  Result<std::optional<Sequence>> find(std::string_view id);
  /// Returns up to `limit` sequences: upwards starting at `from`, or downwards from the end when `newestFirst` is set.
  /// When `kind` is set, returns only entries of that kind.
  Result<std::vector<Sequence>> select(Sequence from, std::size_t limit, std::optional<EntryKind> kind,
                                       bool newestFirst);
  /// Returns the parents and kinds of all entries. Reads only the index.
  Result<SessionOutline> outline();
  /// Returns the ids that begin with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
  Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit);
  /// Returns the control entries of these kinds, in log order.
  Result<std::vector<Sequence>> controls(std::span<const EntryKind> kinds);
  /// Returns the last `limit` entries of the branch that ends in `leaf`.
  Result<BranchPart> branch(Sequence leaf, std::size_t limit);
  /// Returns the lines at these sequences. Fails with a retryable Damaged when the log has changed so that sequences
  /// now refer to different entries; the caller has to ask for new sequences.
  Result<std::vector<std::string>> read(const std::vector<Sequence>& sequences);
  /// Passes every line to `use`, in log order, until `use` returns false. Fails as read() does when the file is
  /// replaced meanwhile.
  Result<void> readAll(const std::function<bool(Sequence, const std::string&)>& use);
  /// As read(), but returns decoded entries.
  Result<std::vector<Entry>> readEntries(const std::vector<Sequence>& sequences);

  /// Appends in one group with all other appends that are waiting now. The work is finished when this returns.
  void append(AppendWork& work, std::size_t weightBytes);

  /// Scans the whole log and passes what it finds to the sink. Writes nothing. Returns the number of bytes after the
  /// last complete batch.
  Result<std::uint64_t> scanWhole(ScanSink& sink);

  /// Makes an entry of the log durable, even if another process wrote it. The caller holds a lock on the file that
  /// excludes writers.
  Result<void> makeDurable(std::string_view id);

  /// Does what opening for append would do: moves torn bytes aside and rebuilds the index.
  Result<RepairReport> repair();

  /// Returns the path of the log, for messages.
  std::string path();
  /// Returns the offset of an entry in the log, for messages. Returns 0 when the log has changed meanwhile.
  std::uint64_t offsetOf(Sequence sequence);

 private:
  struct ProcessParts;

  SessionLog(LogFolders folders, std::string sessionId, const EntrySerializer& serializer, Environment& environment,
             const Options& options);

  template <typename Operation>
  auto withIndex(Operation operation);
  template <typename Read>
  auto readAt(const std::vector<Sequence>& sequences, Read read)
      -> Result<typename std::invoke_result_t<Read, StoredLines&>::value_type>;
  /// Returns up to `limit` lines starting at `from`; none at the end of the log.
  Result<std::vector<std::string>> readFrom(Sequence from, std::size_t limit);

  const std::string sessionId_;
  const EntrySerializer& serializer_;
  PerProcess<ProcessParts> processParts_;
};

}  // namespace bough
