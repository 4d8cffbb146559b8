// One session's log, open: what is in it, and the one way to add to it.
//
// Reading. Every call first looks whether the file has grown, was replaced, or shrank, and scans only what is new; so
// what another process appended is there at the next call. Readers take no lock on the file. A line is checked against
// its seal each time it is read; when that fails, or the index turns out wrong, everything is scanned once more.
//
// Appending. Under an exclusive lock on the file, which the kernel drops when the process dies:
//   1. catch up with what others appended; move torn bytes aside (nobody is writing: we hold the lock);
//   2. sync what others wrote and the name of the file, unless they are known to be synced: a batch is written only
//      after durable bytes, so a crash can tear the last batch and no other. The last one is written again before
//      that, unchanged: a sync that failed in another process may have left it in memory only;
//   3. let the waiting appends check themselves against the log as it is now, and seal all their entries as one batch;
//   4. one write; while the disk works the index takes them in, and a last look finds out whether the file still has
//      the session's name; the lock ends; one sync; then they are acknowledged.
// A write that fails, or that went to a file without the name, is cut off again. A sync that fails poisons this object:
// what the disk holds is unknown, so nothing more is acknowledged until the session is opened again. What it wrote
// stays, since others may have built on it meanwhile.
//
// The parts, each with fields of its own: the file with its name and lock (log_file.h), its index (log_index.h),
// reading lines (stored_lines.h), the outline (log_outline.h), the torn tail (torn_tail.h), the batch writer
// (batch_writer.h). log_parts.h joins those that a mutex guards. A child of fork(2) makes its own.
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

/// How a log was found when it was opened for an append.
struct LogCondition {
  std::uint64_t tornBytes = 0;     ///< Moved aside.
  std::uint64_t problemCount = 0;  ///< Places that are skipped.
};

/// What an append may ask of the log while it holds it. What is before it in its group is not yet among the
/// entries, but moves the tail and the head.
class LogView {
 public:
  virtual ~LogView() = default;
  /// None when the log has no such entry.
  virtual Result<std::optional<Entry>> entryOf(std::string_view id) = 0;
  virtual Result<bool> contains(std::string_view id) = 0;
  [[nodiscard]] virtual std::string_view tailId() const = 0;
  /// Empty before the first entry.
  [[nodiscard]] virtual std::string_view headId() = 0;
  /// As SessionLog::headOfFork.
  virtual Result<std::string> headOfFork(const IsShared& /*isShared*/) { return std::string(headId()); }
  /// As SessionLog::generation.
  [[nodiscard]] virtual std::uint64_t generation() const { return 0; }
  [[nodiscard]] virtual LogCondition condition() const { return {}; }
};

/// One caller's append.
class AppendWork {
 public:
  virtual ~AppendWork() = default;
  /// Checks itself against the log and adds its lines to those that are before it in its group; what it added before
  /// an error is taken back by the caller. May be called again, from the start, when the index had to be rebuilt.
  virtual Result<void> prepare(LogView& log, BatchLines& lines) = 0;
  /// Its lines are written: what they were made of is no longer needed. Called while the disk works, at most once.
  virtual void release() = 0;
  /// Called once with the outcome.
  virtual void tell(Result<void> outcome) = 0;
};

/// The first line of a log that can be read.
struct FirstLine {
  std::string_view text;
  std::uint64_t offset = 0;  ///< More than 0 when what is before it cannot.
  std::string path;
};

class StoredLines;

class SessionLog {
 public:
  /// What is left of a log that was closed: by it one that is opened later is known to be the same.
  struct Identity {
    std::uint64_t generation = 0;
    IndexSummary summary = {};
    std::optional<FileInfo> file = {};  ///< As it was when all of it was known; none of an archive.
  };

  struct Options {
    int lockTimeoutMs = 30'000;
    bool writeIndex = true;
    /// Asked before the first append, and again when the file was replaced: whether to write to it.
    std::function<Result<void>(const FirstLine&)> mayAppend = {};
    /// Asked when bytes at the end look torn, before they are believed to be.
    AskElsewhere askElsewhere = {};
    /// The log goes on with this generation if it is still the same.
    std::optional<Identity> before = {};
  };

  static Result<std::shared_ptr<SessionLog>> open(LogFolders folders, std::string sessionId,
                                                  const EntrySerializer& serializer, Environment& environment,
                                                  Options options);
  ~SessionLog();

  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }

  /// All but what the header says: origin, format, lostSession.
  Result<SessionState> state();
  /// The head of a fork, where a head entry that names neither an entry of the log nor a shared one moves nothing. The
  /// head in state() is as it was named.
  Result<std::string> headOfFork(const IsShared& isShared);
  /// Another number when the log's lines may be others than before, not only more: its file was replaced or changed.
  [[nodiscard]] std::uint64_t generation();
  /// The same after a look at the file.
  Result<std::uint64_t> freshGeneration();
  /// None while somebody is using it, and for a log whose lines no seal answers for. Does not wait.
  std::optional<Identity> identity();
  /// The first line, and the generation that has it.
  struct Header {
    std::string text;
    std::uint64_t generation = 0;
  };
  Result<Header> header();
  /// What is before the first entry that can be read, at most 64 KiB of it; nothing in a sound log.
  Result<std::string> unreadBeginning();

  Result<std::optional<Sequence>> find(std::string_view id);
  /// Sequences from `from` on, upwards or (`newestFirst`) downwards from the end, of one kind when `kind` is set.
  Result<std::vector<Sequence>> select(Sequence from, std::size_t limit, std::optional<EntryKind> kind,
                                       bool newestFirst);
  /// Parents and kinds of all entries, from the index alone.
  Result<SessionOutline> outline();
  /// Entries whose id begins with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
  Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit);
  /// The control entries of these kinds, in log order.
  Result<std::vector<Sequence>> controls(std::span<const EntryKind> kinds);
  /// The last `limit` entries of the branch that ends in `leaf`.
  Result<BranchPart> branch(Sequence leaf, std::size_t limit);
  /// The lines at these sequences. Fails with a retryable Damaged when the log turned out to be changed, so that
  /// sequences mean other entries now: ask for them again.
  Result<std::vector<std::string>> read(const std::vector<Sequence>& sequences);
  /// Every line in turn, until `use` returns false. As read, when another file has the log's place in between.
  Result<void> readAll(const std::function<bool(Sequence, const std::string&)>& use);
  /// As read, decoded.
  Result<std::vector<Entry>> readEntries(const std::vector<Sequence>& sequences);

  /// Appends, together with whoever else does at this moment. The work is finished when this returns.
  void append(AppendWork& work, std::size_t weightBytes);

  /// Scans the whole log and tells the sink; changes nothing. Returns the bytes after the last complete batch.
  Result<std::uint64_t> scanWhole(ScanSink& sink);

  /// Makes an entry of the log durable, whoever wrote it. The caller holds a lock on the file that keeps writers away.
  Result<void> makeDurable(std::string_view id);

  /// What opening for append would do: moves torn bytes aside and rebuilds the index.
  Result<RepairReport> repair();

  /// Where the log lies, for messages.
  std::string path();
  /// Where an entry is in it, for messages; 0 when the log has changed meanwhile.
  std::uint64_t offsetOf(Sequence sequence);

 private:
  struct Inside;

  SessionLog(LogFolders folders, std::string sessionId, const EntrySerializer& serializer, Environment& environment,
             const Options& options);

  template <typename Operation>
  auto withIndex(Operation operation);
  template <typename Read>
  auto readAt(const std::vector<Sequence>& sequences, Read read)
      -> Result<typename std::invoke_result_t<Read, StoredLines&>::value_type>;
  /// The lines from an sequence on; none at the end.
  Result<std::vector<std::string>> readFrom(Sequence from, std::size_t limit);

  const std::string sessionId_;
  const EntrySerializer& serializer_;
  PerProcess<Inside> inside_;
};

}  // namespace bough
