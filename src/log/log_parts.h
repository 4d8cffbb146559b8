// The inside of a SessionLog.
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
#include "log/session_log.h"

namespace bough {

/// Everything that one process knows of a session's log. SessionLog makes another one after fork(2).
class LogParts {
 public:
  using Trace = SessionLog::Trace;
  using Options = SessionLog::Options;
  using Header = SessionLog::Header;

  LogParts(LogFolders folders, std::string sessionId, const EntrySerializer& serializer, Environment& environment,
           Options options);

  /// Before all else: opens the file. A call on a log that is not open does it by itself.
  Result<void> open();

  Result<LogSummary> summary();
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  Result<std::uint64_t> freshGeneration();
  std::optional<Trace> trace();
  Result<Header> header();
  Result<std::string> unreadBeginning();

  Result<std::optional<Ordinal>> find(std::string_view id);
  Result<std::vector<Ordinal>> select(Ordinal from, std::size_t limit, std::optional<EntryKind> kind, bool newestFirst);
  Result<SessionOutline> outline();
  Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit);
  Result<std::vector<Ordinal>> controls();
  Result<LogPath> branch(Ordinal leaf, std::size_t limit);
  Result<std::vector<std::string>> read(const std::vector<Ordinal>& ordinals);
  Result<void> readAll(const std::function<bool(Ordinal, const std::string&)>& use);
  Result<std::vector<Entry>> readEntries(const std::vector<Ordinal>& ordinals);

  void append(AppendWork& work, std::size_t weightBytes);

  Result<std::uint64_t> scanWhole(ScanSink& sink);

  Result<void> makeDurable(std::string_view id);

  Result<RepairReport> repair();

  std::string path();
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

  // Never the same twice in a process, whichever log asks.
  static std::uint64_t nextGeneration();

  // The lines from an ordinal on; none at the end.
  Result<std::vector<std::string>> readFrom(Ordinal from, std::size_t limit);

  // All below need mutex_.
  // False in a child of fork(2) that has not used the log yet.
  [[nodiscard]] bool isOpen() const { return log_.file != nullptr; }
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
