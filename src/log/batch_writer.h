// The only way to append to a log. The code follows the four steps that session_log.h explains.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/system/environment.h"
#include "base/system/thread_annotations.h"
#include "bough/maintenance.h"
#include "log/batch_lines.h"
#include "log/group_commit.h"
#include "log/log_parts.h"
#include "log/session_log.h"
#include "log/torn_tail.h"

namespace bough {

/// Decides in which order an append asks for the lock of a file. A process that appends without a pause would leave
/// other processes no gap. So from time to time its append asks for the lock after the processes that are waiting for
/// it; not every time, because that costs two system calls.
class LockTurns {
 public:
  LockOrder nextOrder();
  /// Records how many bytes the last append wrote.
  void countWritten(std::uint64_t bytes) { bytes_ += bytes; }

 private:
  unsigned appends_ = 0;  // since the last turn, as bytes_
  std::uint64_t bytes_ = 0;
};

/// One sealed batch, ready to be written.
struct SealedBatch {
  std::string bytes;
  std::vector<std::size_t> lineEnds;
  SealDigits seal;  ///< The seal of the last line.
};

class BatchWriter {
 public:
  using MayAppend = std::function<Result<void>(const FirstLine&)>;

  BatchWriter(LogParts& parts, MayAppend mayAppend, Environment& environment);

  void append(AppendWork& work, std::size_t weightBytes) { commits_.run(work, weightBytes); }
  Result<void> makeDurable(std::string_view id) BOUGH_EXCLUDES(parts_.mutex);
  Result<RepairReport> repair() BOUGH_EXCLUDES(writing_, parts_.mutex);

 private:
  class View;
  using Group = std::vector<AppendWork*>;
  /// When to check that the file still has the session's name: before the write, or while the disk works.
  enum class NameCheck : std::uint8_t { BeforeWrite, DuringSync };
  enum class Outcome : std::uint8_t { Written, StaleIndex, OtherFile };

  void commit(const Group& group) BOUGH_EXCLUDES(writing_, parts_.mutex);
  Result<Outcome> tryCommit(const Group& group, NameCheck nameCheck) BOUGH_REQUIRES(writing_, parts_.mutex);
  // Step 1: the lock, what others appended, torn bytes.
  Result<LockedFile> lockFile(NameCheck nameCheck) BOUGH_REQUIRES(writing_, parts_.mutex);
  Result<LockedFile> waitForLock() BOUGH_REQUIRES(parts_.mutex);
  Result<void> unpackArchive() BOUGH_REQUIRES(parts_.mutex);
  Result<void> checkHeader() BOUGH_REQUIRES(parts_.mutex);
  Result<void> setTornTailAside() BOUGH_REQUIRES(parts_.mutex);
  // Step 2: the existing bytes become durable.
  Result<void> syncCovered() BOUGH_REQUIRES(parts_.mutex);
  Result<void> rewriteLastBatch(std::uint64_t covered) BOUGH_REQUIRES(parts_.mutex);
  Result<Sequence> lastBatch() BOUGH_REQUIRES(parts_.mutex);
  // Step 3: the works check themselves, and all their entries are sealed as one batch.
  Result<Outcome> prepare(const Group& group) BOUGH_REQUIRES(parts_.mutex);
  void seal() BOUGH_REQUIRES(parts_.mutex);
  // Step 4: one write; the index is updated while the disk works; the lock is released; one sync.
  Result<Outcome> write(const Group& group, LockedFile& locked) BOUGH_REQUIRES(writing_, parts_.mutex);
  bool noteWritten(const Group& group, std::uint64_t offset) BOUGH_REQUIRES(parts_.mutex);
  void indexBatch(std::uint64_t offset) BOUGH_REQUIRES(parts_.mutex);

  LogParts& parts_;
  const MayAppend mayAppend_;
  Environment& environment_;
  std::uint64_t checkedGeneration_ = 0;  // mayAppend_ has accepted the file of this generation
  LockTurns turns_;
  TornTail torn_;
  // The batch that is being written. The buffers are reused by the next batch, so that it needs no allocation.
  BatchLines lines_;
  std::vector<Result<void>> outcomes_;  // one for each work of the group
  SealedBatch sealed_;

  // Serializes writers in this process: flock does not exclude threads, which share the open file. Also held while
  // parts_.mutex is released for readers.
  Mutex writing_ BOUGH_ACQUIRED_BEFORE(parts_.mutex);
  GroupCommit<AppendWork> commits_;
};

}  // namespace bough
