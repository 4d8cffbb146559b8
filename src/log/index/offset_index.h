// Where each entry of a log stands, who its parent is, and how to find it by its id: what lets a session of any size
// open at once and a branch be walked without reading it.
//
// One fixed-size record an entry, in log order; an entry's place in that order is its sequence. Records of the index
// file (index_file.h) are loaded block by block when they are asked for; what the log has gained since is held in
// memory. The index is derived: whenever anything about it is doubtful it is dropped and made again from the log.
//
// Ids are kept as 64-bit hashes with a seed of their own, so nobody can aim collisions at it; a caller confirms a
// candidate by reading the id from the log.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/system/huge_pages.h"
#include "bough/entry.h"
#include "log/format/line.h"
#include "log/source/scan.h"

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

class IndexFile;

/// What a look at a candidate's id in the log has found.
enum class IdMatch : std::uint8_t { Different, Same, Unreadable };

class OffsetIndex {
 public:
  /// Compares an id with that of a candidate, which it reads from the log. When that cannot be read, the index counts
  /// as damaged: a failed read is not a negative answer.
  using ConfirmId = std::function<IdMatch(const IndexRecord&, std::string_view id)>;

  /// An empty index. `seed` may be anything; it keys the hashes.
  explicit OffsetIndex(std::uint64_t seed);
  /// An index that continues the one in `file`.
  explicit OffsetIndex(std::unique_ptr<IndexFile> file);
  OffsetIndex(OffsetIndex&&) noexcept;
  OffsetIndex& operator=(OffsetIndex&&) noexcept;
  ~OffsetIndex();

  [[nodiscard]] const IndexSummary& summary() const { return summary_; }
  [[nodiscard]] ScanState scanState() const;
  void setScanState(const ScanState& state);
  /// Before the index is saved: the sum of the last bytes it covers, and of which file they are.
  void setEdge(std::uint32_t sum, std::uint32_t fileStamp) {
    summary_.edgeSum = sum;
    summary_.fileStamp = fileStamp;
  }

  /// The record at `sequence`, which must be smaller than summary().count. After a read error in the index file it is
  /// empty and damaged() holds.
  IndexRecord record(Sequence sequence);

  /// All records, in order and in parts; some are missing when damaged() holds afterwards. Unlike those that record()
  /// gives they need not be plausible.
  void forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use);

  std::optional<Sequence> find(std::string_view id, const ConfirmId& confirm);

  /// Adds the entry of a scanned line. A second entry of the same id is left out: returns false. `lastId` is the id of
  /// the entry added last, if it is known: most entries are its children, and need not be looked up.
  bool add(const ScannedLine& line, const ConfirmId& confirm, std::string_view lastId = {});
  /// Adds a place that cannot be read, as the entry that was there. Its kind is Other.
  void addUnreadable(IndexRecord record, bool movesHead);
  /// Gives the unreadable entry at `sequence` an id: that of which a later entry says that it is its parent.
  void nameUnreadable(Sequence sequence, std::string_view id);
  /// The record that begins at an offset of the log, and its sequence.
  std::optional<std::pair<Sequence, IndexRecord>> recordAt(std::uint64_t offset);
  /// Fetches the place where the id of the line that `text` begins with would be found, so that it is at hand when the
  /// entry is added.
  void prepareFor(std::string_view text) const;
  /// Makes room for so many entries at once.
  void reserve(std::size_t entries);
  void addProblem() {
    ++summary_.problemCount;
    summary_.doubtful = 1;
  }

  /// True when the index file turned out to be broken, or an id of the log could not be read: throw this index away.
  [[nodiscard]] bool damaged() const { return damaged_; }

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool hasFile() const { return file_ != nullptr; }
  /// Bytes of the log that the index file does not cover.
  [[nodiscard]] std::uint64_t unsavedBytes() const;
  /// Whether so much was added since the file was written whole that it should be written again.
  [[nodiscard]] bool wantsRewrite() const;
  /// Adds what is missing to the index file in place. The caller holds the log's lock. False when there is no file or
  /// it is no longer ours to extend.
  bool extendFile();

 private:
  std::optional<Sequence> find(std::string_view id, std::uint64_t hash, const ConfirmId& confirm);
  bool isSame(const IndexRecord& candidate, std::string_view id, const ConfirmId& confirm);
  /// Whether an id comes after all others, as those that the store makes do: then it is none of them.
  [[nodiscard]] bool isGreatest(std::string_view id) const { return !file_ && id > greatestId_; }
  void fillTable();
  void moveHead(const ScannedLine& line, const ConfirmId& confirm);

  std::uint64_t seed_;
  std::unique_ptr<IndexFile> file_;
  Sequence fileCount_ = 0;
  IndexRecords fresh_;
  IdTable table_;           // of fresh_; its size is a power of two
  std::size_t tabled_ = 0;  // how many of fresh_ are in it: it is filled when somebody looks for an id
  std::string greatestId_;  // of all entries, while there is no file
  IndexSummary summary_;
  bool damaged_ = false;
};

/// The id of an unreadable entry of which nothing is known.
std::string unreadableId(std::uint64_t offset);
/// The offset in such an id.
std::optional<std::uint64_t> offsetOfUnreadableId(std::string_view id);

/// The beginning of a line, usually as far as its keys can be in it; shorter when it cannot be read.
std::string beginningOf(ByteSource& source, const IndexRecord& record, std::size_t mostBytes = 512);

/// Hashes an id under a seed.
std::uint64_t hashId(std::string_view id, std::uint64_t seed);

}  // namespace bough
