// The index of a session's file, kept up to date with the file, which any process may write.
//
// Each check compares the file with its last known state, and scans only the new part. When the file was replaced, has
// shrunk, or its last covered bytes have changed, the whole file is scanned again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/environment.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "log/file/log_file.h"
#include "log/index/counted_elsewhere.h"
#include "log/index/counted_end.h"
#include "log/index/covered_end.h"
#include "log/index/log_ends.h"
#include "log/index/offset_index.h"

namespace bough {

/// Returns whether a fork shares an entry. Called while the log is locked, so it must not use the log.
using IsShared = std::function<Result<bool>(std::string_view id)>;

struct LogIndexOptions {
  bool writeFile = true;
  AskElsewhere askElsewhere = {};
};

class LogIndex {
 public:
  LogIndex(LogFile& file, const EntrySerializer& serializer, Environment& environment, LogIndexOptions options);

  [[nodiscard]] const IndexSummary& summary() const { return index_.summary(); }
  OffsetIndex& records() { return index_; }
  LogEnds& ends() { return ends_; }
  /// Returns a function that compares an id with the id in the log.
  OffsetIndex::ConfirmId confirmer();
  std::optional<Sequence> find(std::string_view id);

  /// Changes when existing sequences may refer to different entries, because the file was replaced or changed. Any
  /// thread may call this.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Restores an earlier generation if the log is the same as it was then.
  void resume(const IndexSummary& summary, std::uint64_t generation);
  /// Changes when another process or object wrote to the file.
  [[nodiscard]] std::uint64_t foreignWrites() const { return foreignWrites_; }

  /// Opens the file that has the session's name now. Starts from the index file if that file matches.
  Result<void> reopen();
  /// Brings the index up to date with the current file.
  Result<void> refresh();
  /// As refresh(), for a caller that has just looked up the file and found that it is the one we have open.
  Result<void> refreshFrom(const FileInfo& info);
  /// Scans the whole log again.
  Result<void> rebuild();
  /// Drops the index. With the seed of another index, ids of the two can be compared by their hashes.
  void drop(std::optional<std::uint64_t> seed = {});
  /// Adds bytes at the end that look torn but were counted elsewhere. The caller holds the log's lock, so that nobody
  /// is writing.
  Result<void> addCountedElsewhere();
  /// Says why it is not known whether the bytes at the end that look torn were counted: somebody is writing, or not
  /// everybody who may have counted them could be asked. std::nullopt when it is known.
  [[nodiscard]] const std::optional<Error>& doubt() const { return counted_.doubt(); }
  /// Records that all of the file is known.
  void setLastKnownFile(const FileInfo& info);

  /// Adds a line that was written after the others. `setEnd` is called after the last line.
  void addWritten(const ScannedLine& line);
  /// Records that `bytes` were written at `offset` and are indexed.
  void setEnd(std::uint64_t offset, std::string_view bytes, const SealDigits& seal);

  /// Writes the index file. Best effort.
  void save();
  /// Adds the missing records to the index file. The caller holds the log's lock.
  void extend();

 private:
  void loadFile(std::uint64_t sizeBytes);
  Result<void> catchUp();
  Result<void> scanNew(AskWhen when = AskWhen::NobodyWrites, int tries = 3);

  LogFile& file_;
  const EntrySerializer& serializer_;
  Environment& environment_;
  const LogIndexOptions options_;
  OffsetIndex index_;
  CoveredEnd end_;
  LogEnds ends_;
  std::uint32_t readStamp_ = 0;  // stamp of the file, taken before the index read from it
  std::atomic<std::uint64_t> generation_;
  std::uint64_t foreignWrites_ = 0;
  CountedEnd counted_;
};

}  // namespace bough
