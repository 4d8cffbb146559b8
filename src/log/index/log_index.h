// The index of a session's file, kept up to date with it, whoever writes to it.
//
// Every look compares the file with what was last seen of it; only what is new is scanned. When the file is another
// one, has shrunk, or its last covered bytes have changed, all of it is scanned again.
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

/// Whether a fork shares an entry. Asked while the log is locked: must not use it.
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
  /// Compares an id with the one that is in the log.
  OffsetIndex::ConfirmId confirmer();
  std::optional<Sequence> find(std::string_view id);

  /// Changes when existing sequences may refer to different entries: the file was replaced or changed. Any thread may
  /// ask.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Goes back to an earlier generation when the log is the same as in it.
  void resume(const IndexSummary& summary, std::uint64_t generation);
  /// Changes when somebody else wrote to the file.
  [[nodiscard]] std::uint64_t foreignWrites() const { return foreignWrites_; }

  /// Opens the file that has the session's name now, and begins with the index file when that fits.
  Result<void> reopen();
  /// Brings the index up to date with the file as it is now.
  Result<void> refresh();
  /// The same after a look at the file, which is the one we have open.
  Result<void> refreshFrom(const FileInfo& info);
  /// Scans all of it again.
  Result<void> rebuild();
  /// Knows nothing then. With the seed of another index ids can be compared by their hashes.
  void forget(std::optional<std::uint64_t> seed = {});
  /// Takes in what looks torn at the end but was counted elsewhere. The caller holds the log's lock, so that nobody is
  /// writing.
  Result<void> takeCounted();
  /// Why it is not known whether what looks torn at the end was counted: somebody is writing, or not all could be asked
  /// who may have counted it. None when it is known.
  [[nodiscard]] const std::optional<Error>& doubt() const { return counted_.doubt(); }
  /// Takes note that all of the file is known.
  void noteSeen(const FileInfo& info);

  /// Adds a line that was written after the others. `setEnd` follows the last one.
  void addWritten(const ScannedLine& line);
  /// `bytes` were written at `offset` and are indexed.
  void setEnd(std::uint64_t offset, std::string_view bytes, const SealDigits& seal);

  /// Writes the index file. Best effort.
  void save();
  /// Adds what is missing to the index file. The caller holds the log's lock.
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
  std::uint32_t readStamp_ = 0;  // of the file, before what the index says was read from it
  std::atomic<std::uint64_t> generation_;
  std::uint64_t foreignWrites_ = 0;
  CountedEnd counted_;
};

}  // namespace bough
