// One session's log, open: what is in it, and the one way to add to it.
//
// Reading. Every call first looks whether the file has grown, was replaced, or shrank, and scans only what is new; so
// what another process appended is there at the next call. Readers take no lock on the file. A line is checked against
// its seal each time it is read; when that fails, or the index turns out wrong, everything is scanned anew once.
//
// Appending. Under an exclusive lock on the file, which the kernel drops when the process dies:
//   1. catch up with what others appended; move torn bytes aside (nobody is writing: we hold the lock);
//   2. sync what others wrote and the name of the file, unless they are known to be synced: a batch is written only
//      behind durable bytes, so a crash can tear the last batch and no other. The last one is written anew before
//      that, as it stands: a sync that failed in another process may have left it in memory only;
//   3. let the waiting appends check themselves against the log as it is now, and seal all their entries as one batch;
//   4. one write; while the disk works the index takes them in, and a last look finds out whether the file still has
//      the session's name; the lock ends; one sync; then they are acknowledged.
// A write that fails, or that went to a file without the name, is cut off again. A sync that fails poisons this object:
// what the disk holds is unknown, so nothing more is acknowledged until the session is opened again. What it wrote
// stays, since others may have built on it meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/environment.h"
#include "base/file_io.h"
#include "bough/entry_serializer.h"
#include "bough/error.h"
#include "bough/outline.h"
#include "bough/report.h"
#include "log/group_commit.h"
#include "log/log_files.h"
#include "log/new_lines.h"
#include "log/offset_index.h"

namespace bough {

/// How a log was found when it was opened for an append.
struct LogCondition {
  std::uint64_t tornBytes = 0;     ///< Moved aside.
  std::uint64_t problemCount = 0;  ///< Places that are skipped.
};

/// What an append may ask of the log while it holds it. What stands before it in its group is not yet among the
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
  /// As SessionLog::generation.
  [[nodiscard]] virtual std::uint64_t generation() const { return 0; }
  [[nodiscard]] virtual LogCondition condition() const { return {}; }
};

/// One caller's append.
class AppendWork {
 public:
  virtual ~AppendWork() = default;
  /// Checks itself against the log and adds its lines to those that stand before it in its group; what it added before
  /// an error is taken back by the caller. May be called again, from the start, when the index had to be made anew.
  virtual Result<void> prepare(LogView& log, NewLines& lines) = 0;
  /// Its lines are written: what they were made of is no longer needed. Called while the disk works, at most once.
  virtual void release() = 0;
  /// Called once with the outcome.
  virtual void finish(Result<void> outcome) = 0;
};

struct LogSummary {
  std::uint32_t count = 0;
  std::string tailId;
  std::string headId;  ///< Empty before the first entry.
  std::uint64_t bytes = 0;
  std::uint64_t trailingBytes = 0;  ///< Behind the last complete batch.
  std::uint32_t problemCount = 0;
  LogForm form = LogForm::Plain;
};

/// A stretch of a branch, root first.
struct LogPath {
  std::vector<Ordinal> ordinals;
  /// The parent of the first one when it is not in this log; empty at a root or when the limit was reached.
  std::string continuesAt;
};

/// The first line of a log that can be read.
struct FirstLine {
  std::string_view text;
  std::uint64_t offset = 0;  ///< More than 0 when what stands before it cannot.
  std::string path;
};

class SessionLog {
 public:
  /// What is left of a log that was closed: by it one that is opened later is known to be the same.
  struct Trace {
    std::uint64_t generation = 0;
    IndexSummary summary = {};
  };

  struct Options {
    int lockTimeoutMs = 30'000;
    bool writeIndex = true;
    /// Asked before the first append, and again when the file was replaced: whether to write to it.
    std::function<Result<void>(const FirstLine&)> mayAppend = {};
    /// The log goes on with this generation if it is still the same.
    std::optional<Trace> before = {};
  };

  static Result<std::shared_ptr<SessionLog>> open(LogFolders folders, std::string sessionId,
                                                  const EntrySerializer& serializer, Environment& environment,
                                                  Options options);
  ~SessionLog();

  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }

  Result<LogSummary> summary();
  /// Another number when the log's lines may be others than before, not only more: its file was replaced or changed.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// The same after a look at the file.
  Result<std::uint64_t> freshGeneration();
  /// None while somebody is using it, and for a log whose lines no seal answers for. Does not wait.
  std::optional<Trace> trace();
  /// The first line, and the generation that has it.
  struct Header {
    std::string text;
    std::uint64_t generation = 0;
  };
  Result<Header> header();
  /// What stands before the first entry that can be read, at most 64 KiB of it; nothing in a sound log.
  Result<std::string> unreadBeginning();

  Result<std::optional<Ordinal>> find(std::string_view id);
  /// Ordinals from `from` on, upwards or (`newestFirst`) downwards from the end, of one kind when `kind` is set.
  Result<std::vector<Ordinal>> select(Ordinal from, std::size_t limit, std::optional<EntryKind> kind, bool newestFirst);
  /// Parents and kinds of all entries, from the index alone.
  Result<SessionOutline> outline();
  /// Entries whose id begins with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
  Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit);
  /// All control entries, in log order.
  Result<std::vector<Ordinal>> controls();
  /// The last `limit` entries of the branch that ends in `leaf`.
  Result<LogPath> branch(Ordinal leaf, std::size_t limit);
  /// The lines at these ordinals. Fails with a retryable Damaged when the log turned out to be changed, so that
  /// ordinals mean other entries now: ask for them again.
  Result<std::vector<std::string>> read(const std::vector<Ordinal>& ordinals);
  /// Every line in turn, until `use` returns false. As read, when another file has the log's place in between.
  Result<void> readAll(const std::function<bool(Ordinal, const std::string&)>& use);
  /// As read, decoded.
  Result<std::vector<Entry>> readEntries(const std::vector<Ordinal>& ordinals);

  /// Appends, together with whoever else does at this moment. The work is finished when this returns.
  void append(AppendWork& work, std::size_t weightBytes);

  /// Scans the whole log and tells the sink; changes nothing. Returns the bytes behind the last complete batch.
  Result<std::uint64_t> scanWhole(ScanSink& sink);

  /// Makes an entry of the log durable, whoever wrote it. The caller holds a lock on the file that keeps writers away.
  Result<void> makeDurable(std::string_view id);

  /// What opening for append would do: moves torn bytes aside and makes the index anew.
  Result<RepairReport> repair();

  /// Where the log lies, for messages.
  std::string path();
  /// Where an entry stands in it, for messages; 0 when the log has changed meanwhile.
  std::uint64_t offsetOf(Ordinal ordinal);

 private:
  class View;
  class IndexSink;
  struct ReadRoom {
    static constexpr std::size_t kUsualBytes = std::size_t{128} << 10;
    std::unique_ptr<char[]> usual;
    std::unique_ptr<char[]> large;
    std::span<char> take(std::size_t size);
  };
  // A line as it stands in the file, with what is needed to check it. It is gone after the call.
  struct StoredLine {
    std::string_view text;
    bool chained;                        // it has a seal that must hold
    bool known;                          // it was found to hold before
    std::uint64_t keptAt;                // its offset when it is kept, else 0
    std::optional<SealDigits> previous;  // none: what it follows from is not known
    [[nodiscard]] bool holds() const;
  };
  // A stretch of the log that was read a moment ago: who continues a conversation reads its end again with every turn.
  struct KeptLines {
    static constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 19;
    std::uint64_t generation = 0;
    std::uint64_t begin = 0;
    std::uint64_t good = 0;  // up to here all seals were found to hold
    std::string bytes;
    std::unordered_set<std::uint64_t> payloadLast;  // offsets of lines that have nothing behind their payload

    [[nodiscard]] std::uint64_t end() const { return begin + bytes.size(); }
  };
  /// Called for every line in turn; false when it is not what its seal says.
  using UseLine = std::function<bool(const StoredLine&)>;
  static constexpr std::size_t kEdgeBytes = 4096;
  // `,"seal":"1000000/1000000 xxxxxxxx"}` and a line end: what must be read before a line to check its seal.
  static constexpr std::size_t kSealTailBytes = 48;
  static constexpr std::uint64_t kUnseen = UINT64_MAX;
  // A log shorter than this needs no index file; a longer rest is added to it.
  static constexpr std::uint64_t kExtendAfterBytes = std::uint64_t{256} << 10;

  SessionLog(LogFolders folders, std::string sessionId, const EntrySerializer& serializer, Environment& environment,
             Options options);

  // Never the same twice in a process, whichever log asks.
  static std::uint64_t nextGeneration();

  // The lines from an ordinal on; none at the end.
  Result<std::vector<std::string>> readFrom(Ordinal from, std::size_t limit);

  // All below need mutex_.
  Result<void> reopen();
  Result<void> refresh();
  Result<void> refreshFrom(const FileInfo& info);
  Result<void> catchUp();
  Result<void> scanFresh();
  Result<void> rebuild();
  void forgetIndex();
  void loadIndex(std::uint64_t sizeBytes);
  void saveIndex();
  void sumEdge();
  static std::uint32_t stampOf(const FileInfo& info);
  Result<std::string> edgeBefore(std::uint64_t offset);
  Result<std::string> idOf(Ordinal ordinal);
  Result<void> loadHead();
  bool confirm(const IndexRecord& record, std::string_view id);
  OffsetIndex::ConfirmId confirmer();
  Result<std::vector<std::string>> fetch(const std::vector<Ordinal>& ordinals);
  Result<void> forEachLine(const std::vector<Ordinal>& ordinals, const UseLine& use);
  Result<void> readLines(const std::vector<Ordinal>& ordinals, const UseLine& use);
  Result<void> decodeLine(const StoredLine& line, std::vector<Entry>& entries, bool& holds);
  Result<void> readRun(std::span<const IndexRecord> records, const UseLine& use);
  enum class Kept : std::uint8_t { No, Yes };
  void useRun(std::string_view bytes, std::uint64_t begin, std::span<const IndexRecord> records, Kept kept,
              const UseLine& use);
  static bool mayKeep(std::span<const IndexRecord> records);
  Result<void> keep(std::uint64_t first, std::uint64_t end);
  Result<void> readKept(std::span<const IndexRecord> records, const UseLine& use);
  Error ioError(int number, std::string_view what);
  Error changingError();
  // Runs an operation over a fresh index; when it stumbles over something that is not as indexed, scans all and runs
  // it once more.
  template <typename Operation>
  auto withIndex(Operation operation) -> decltype(operation()) {
    if (auto fresh = refresh(); !fresh) return std::unexpected(fresh.error());
    auto result = operation();
    if (!readMismatch_ && !index_.damaged()) return result;
    if (auto fresh = rebuild(); !fresh) return std::unexpected(fresh.error());
    result = operation();
    if (result && (readMismatch_ || index_.damaged())) return std::unexpected(changingError());
    return result;
  }

  // Appending; see session_log_append.cpp.
  void commit(const std::vector<AppendWork*>& group);
  enum class NameLook : std::uint8_t { Now, Later };
  [[nodiscard]] bool isAsLeft(const FileInfo& info) const;
  Result<std::shared_ptr<File>> lockForAppend(std::unique_lock<std::mutex>& lock, NameLook look);
  Result<void> checkHeader();
  Result<void> settle();
  Result<void> syncCovered();
  Result<void> syncName();
  Result<Ordinal> lastBatch();
  void noteSeen(const FileInfo& info);
  Result<void> renewLastBatch(std::uint64_t covered);
  LockOrder nextOrder();
  Error appendError(int number, std::uint64_t offset);
  Result<void> syncFile();
  [[nodiscard]] Error syncError(int number) const;
  Result<void> moveTornAside(std::uint64_t begin, std::uint64_t end);
  Result<void> loadTail();
  Result<void> prepareGroup(const std::vector<AppendWork*>& group);
  void sealGroup();
  void indexGroup(std::uint64_t offset);
  void extendIndex();
  [[nodiscard]] Error replacedError() const;
  [[nodiscard]] bool hasLostName(const SysResult<FileInfo>& named) const;
  bool noteWritten(const std::vector<AppendWork*>& group, std::uint64_t offset);
  Result<bool> commitLines(const std::vector<AppendWork*>& group, File& file, FileLock& fileLock,
                           std::unique_lock<std::mutex>& lock);

  const LogFolders folders_;
  const std::string sessionId_;
  const std::string plainPath_;  // of the log when it is not archived, for messages
  const EntrySerializer& serializer_;
  Environment& environment_;
  const Options options_;

  // Held by who writes to the file, an append or a repair, also while mutex_ is open for readers: the file's lock does
  // not keep threads apart, which share the open file. Comes before mutex_.
  std::mutex writing_;
  std::mutex mutex_;
  OpenLog log_;
  OffsetIndex index_;
  SessionOutline outline_;  // of the log in that generation, or of its beginning
  std::uint64_t outlineGeneration_ = 0;
  std::string edge_;  // the last bytes that the index covers, at least 4 KiB of them
  std::string tailId_;
  std::uint64_t tailOffset_ = 0;
  std::string headId_;
  std::string header_;                // the first line, once it was read
  std::uint64_t seenSize_ = kUnseen;  // of the file, when all of it was last known
  std::uint64_t seenModifiedNs_ = 0;
  std::uint32_t readStamp_ = 0;    // of the file, before what the index says was read from it
  std::uint64_t movedBytes_ = 0;   // torn ones, since the last append that could tell of them
  std::uint64_t syncedBytes_ = 0;  // known to be on the disk
  bool nameSynced_ = false;        // the file's name is on the disk too
  bool readMismatch_ = false;      // a line was not what the index says
  bool headerChecked_ = false;     // options_.mayAppend has said yes to this file
  std::atomic<std::uint64_t> generation_ = nextGeneration();
  std::optional<Error> poison_;
  ReadRoom room_;
  KeptLines kept_;
  unsigned appendsSinceTurn_ = 0;
  std::uint64_t bytesSinceTurn_ = 0;
  // Of the group that is being written; kept from one to the next, so that they need no memory.
  NewLines groupLines_;
  std::vector<Result<void>> outcomes_;  // of each work of the group
  std::string groupBytes_;
  std::vector<std::size_t> lineEnds_;
  SealDigits groupSeal_;

  GroupCommit<AppendWork> commits_;
};

}  // namespace bough
