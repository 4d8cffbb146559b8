// Adds what a scan of a log finds to its index: entries, and places that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bough/entry.h"
#include "bough/error.h"
#include "log/file/log_file.h"
#include "log/index/counted_elsewhere.h"
#include "log/index/log_ends.h"
#include "log/index/offset_index.h"
#include "log/source/scan.h"

namespace bough {

class IndexSink final : public ScanSink {
 public:
  /// What a sink works with. All of it must outlive the sink.
  struct Parts {
    LogFile& file;
    const EntrySerializer& serializer;
    OffsetIndex& index;
    LogEnds& ends;
    OffsetIndex* earlier = nullptr;  ///< The index from before the log was damaged, if there is one.
  };

  explicit IndexSink(const Parts& parts);

  /// Scans from `state`. Returns the number of bytes after the counted ones that look torn.
  Result<std::uint64_t> scan(ScanState& state);
  /// Scans what looks torn again, up to the offset that others have counted, even if the earlier index does not have
  /// it. Returns the number of bytes after that which look torn.
  Result<std::uint64_t> scanCounted(ScanState& state, std::uint64_t trailing, const AskElsewhere& askElsewhere);
  /// Returns why not everybody could be asked.
  std::optional<Error> takeAskFailure() { return std::move(askFailure_); }

  void onLine(const ScannedLine& line) override;
  bool agreesWithCountedIndex() override { return trustsCountedElsewhere_ || agreesWithEarlierIndex(); }
  void onUpcoming(std::string_view text) override { parts_.index.prefetchIdSlot(text); }
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) override;

 private:
  Result<std::uint64_t> countedEnd(std::uint64_t from, const AskElsewhere& askElsewhere);
  bool agreesWithEarlierIndex();
  void addDamagedRun(std::uint64_t offset, std::uint64_t bytes);
  bool addFromEarlierIndex(std::uint64_t offset, std::uint64_t end);
  void addUnreadable(std::uint64_t offset, std::uint64_t bytes);
  void dropIdOfDamagedCopy(std::string_view id);
  void nameUnreadableBefore(const ScannedLine& line);
  void nameUnreadableUnlessFound(std::string_view id);

  const Parts parts_;
  OffsetIndex::ConfirmId confirmId_;
  bool trustsCountedElsewhere_ = false;
  std::optional<Error> askFailure_;
  std::optional<Sequence> lastWithUncertainId_;  // the last unreadable entry whose id is not certain
  std::optional<Sequence> lastUnreadable_;  // the last unreadable entry: it represents everything that was lost there
  bool isFork_ = false;
};

}  // namespace bough
