// A record of the index: one entry of a log, and a summary of all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/system/huge_pages.h"
#include "bough/entry.h"
#include "log/format/line.h"
#include "log/source/byte_source.h"

namespace bough {

__extension__ typedef unsigned __int128 Uint128;  // NOLINT(modernize-use-using): __extension__ takes no alias

inline constexpr std::uint8_t kUnreadableTurn = 1;   ///< Of IndexRecord::unreadable: the entry became the head.
inline constexpr std::uint8_t kUnreadableOther = 2;  ///< The entry was a control entry.

struct IndexRecord {
  std::uint64_t offset = 0;
  std::uint64_t idHash = 0;
  std::uint32_t length = 0;
  Sequence parent = kNoSequence;  ///< Always smaller than the entry's own, or kNoSequence, or kElsewhere: in a fork,
                                  ///< perhaps an entry of the shared history.
  Sequence previousControl = kNoSequence;  ///< The control entry before this one.
  EntryKind kind = EntryKind::Other;
  std::uint8_t chained = 0;     ///< As in ScannedLine: the seal can be checked again with the one before it.
  std::uint8_t unreadable = 0;  ///< Not 0 for a place that cannot be read; the id's hash may be made up.
  std::uint8_t reserved = 0;
};
static_assert(sizeof(IndexRecord) == 32 && std::is_trivially_copyable_v<IndexRecord>);
using IndexRecords = std::vector<IndexRecord, HugePageAllocator<IndexRecord>>;
/// Open addressing by hash; kNoSequence in free slots.
using IdTable = std::vector<Sequence, HugePageAllocator<Sequence>>;

/// What is known of the whole log up to `coveredBytes`.
struct IndexSummary {
  std::uint64_t coveredBytes = 0;
  std::uint32_t count = 0;
  Sequence lastControl = kNoSequence;
  /// The entry that the next turn continues from: kNoSequence before the first one; kElsewhere when the head entry
  /// `headEntry` names one of the shared history, or when a fork has none of its own yet.
  Sequence head = kNoSequence;
  Sequence headEntry = kNoSequence;
  std::uint32_t problemCount = 0;  ///< Without notes.
  char lastSeal[8] = {};
  std::uint8_t hasSeal = 0;
  std::uint8_t lacksLineEnd = 0;
  std::uint8_t sealLost = 0;
  /// Some lines are damaged, or no seal vouches for them: what was read there may be otherwise in the same file later.
  std::uint8_t doubtful = 0;
  std::uint32_t edgeSum = 0;  ///< CRC-32C of the last 4 KiB that are covered: tells another file from this one.
  /// Of the file when it was read; when `doubtful`, the index holds only while it is still the same.
  std::uint32_t fileStamp = 0;

  /// Whether both are of the same lines: seals follow from one another, so the last one tells.
  [[nodiscard]] bool isSameLogAs(const IndexSummary& other) const {
    return coveredBytes == other.coveredBytes && count == other.count && problemCount == other.problemCount &&
           hasSeal == other.hasSeal && std::ranges::equal(lastSeal, other.lastSeal);
  }
};
static_assert(sizeof(IndexSummary) == 48 && std::is_trivially_copyable_v<IndexSummary>);

/// Whether a record can be the one at `sequence`: it points into the log, and back to earlier records only. So a forged
/// index file cannot make a walk endless or a read larger than the log.
bool isPlausible(const IndexRecord& record, Sequence sequence, const IndexSummary& summary);

/// The beginning of a line, usually as far as its keys can be in it; shorter when it cannot be read.
std::string beginningOf(ByteSource& source, const IndexRecord& record, std::size_t mostBytes = 512);

/// Hashes an id under a seed.
std::uint64_t hashId(std::string_view id, std::uint64_t seed);

}  // namespace bough
