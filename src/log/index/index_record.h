// A record of the index, which describes one entry of a log, and the summary of all records.
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

inline constexpr std::uint8_t kUnreadableTurn = 1;   ///< For IndexRecord::unreadable: the entry became the head.
inline constexpr std::uint8_t kUnreadableOther = 2;  ///< The entry was a control entry.

struct IndexRecord {
  std::uint64_t offset = 0;
  std::uint64_t idHash = 0;
  std::uint32_t length = 0;
  /// Smaller than the entry's own sequence, or kNoSequence, or kElsewhere: in a fork, perhaps an entry of the shared
  /// history.
  Sequence parent = kNoSequence;
  Sequence previousControl = kNoSequence;  ///< The control entry before this one.
  EntryKind kind = EntryKind::Other;
  std::uint8_t chained = 0;     ///< As in ScannedLine: the seal can be checked with the one before it.
  std::uint8_t unreadable = 0;  ///< Not 0 for a place that cannot be read; the id's hash may be made up.
  std::uint8_t reserved = 0;
};
static_assert(sizeof(IndexRecord) == 32 && std::is_trivially_copyable_v<IndexRecord>);
using IndexRecords = std::vector<IndexRecord, HugePageAllocator<IndexRecord>>;
/// Open addressing by hash; kNoSequence in free slots.
using IdTable = std::vector<Sequence, HugePageAllocator<Sequence>>;

/// What is known about the log up to `coveredBytes`.
struct IndexSummary {
  std::uint64_t coveredBytes = 0;
  std::uint32_t count = 0;
  Sequence lastControl = kNoSequence;
  /// The entry that the next turn continues from. kNoSequence before the first entry. kElsewhere when the head entry
  /// `headEntry` names an entry of the shared history, or when a fork has no own entry yet.
  Sequence head = kNoSequence;
  Sequence headEntry = kNoSequence;
  std::uint32_t problemCount = 0;  ///< Notes are not counted.
  char lastSeal[8] = {};
  std::uint8_t hasSeal = 0;
  std::uint8_t lacksLineEnd = 0;
  std::uint8_t sealLost = 0;
  /// Some lines are damaged or have no seal: the same file may read differently later.
  std::uint8_t doubtful = 0;
  std::uint32_t edgeSum = 0;  ///< CRC-32C of the last 4 KiB that are covered: distinguishes this file from another.
  /// Stamp of the file when it was read. If `doubtful`, the index is valid only while the stamp is unchanged.
  std::uint32_t fileStamp = 0;

  /// Returns true when both summaries describe the same lines. The last seal shows that, because seals are chained.
  [[nodiscard]] bool isSameLogAs(const IndexSummary& other) const {
    return coveredBytes == other.coveredBytes && count == other.count && problemCount == other.problemCount &&
           hasSeal == other.hasSeal && std::ranges::equal(lastSeal, other.lastSeal);
  }
};
static_assert(sizeof(IndexSummary) == 48 && std::is_trivially_copyable_v<IndexSummary>);

/// Returns true when a record can be the one at `sequence`: it points into the log, and only to earlier records. So a
/// forged index file cannot cause an endless walk or a read larger than the log.
bool isPlausible(const IndexRecord& record, Sequence sequence, const IndexSummary& summary);

/// Returns the beginning of a line, usually long enough to contain its keys. Shorter when it cannot be read.
std::string beginningOf(ByteSource& source, const IndexRecord& record, std::size_t mostBytes = 512);

/// Hashes an id with a seed.
std::uint64_t hashId(std::string_view id, std::uint64_t seed);

}  // namespace bough
