// Where each entry of a log is, which entry is its parent, and how to find it by its id: what lets a session of any
// size open at once and a branch be walked without reading it.
//
// One fixed-size record an entry, in log order; an entry's place in that order is its sequence. Records of the index
// file (index_file.h) are loaded block by block when they are asked for; what the log has gained since is held in
// memory. The index is derived: whenever anything about it is doubtful it is dropped and made again from the log.
//
// Ids are kept as 64-bit hashes with a seed of their own, so nobody can aim collisions at it; a caller confirms a
// candidate by reading the id from the log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bough/entry.h"
#include "log/index/fresh_records.h"
#include "log/index/index_record.h"
#include "log/source/scan.h"

namespace bough {

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

  /// The entry of an id, or the one at the place that the id of an unreadable entry names, whether that can be read by
  /// now or not.
  std::optional<Sequence> find(std::string_view id, const ConfirmId& confirm);

  /// Adds the entry of a scanned line. A second entry of the same id is left out: returns false. `lastId` is the id of
  /// the entry added last, if it is known: most entries are its children, and need not be looked up. `lost` stands for
  /// a parent that is nowhere.
  bool add(const ScannedLine& line, const ConfirmId& confirm, std::string_view lastId = {}, Sequence lost = kElsewhere);
  /// Adds a place that cannot be read, as the entry that was there. Its kind is Other.
  void addUnreadable(IndexRecord record, bool movesHead);
  /// Gives the unreadable entry at `sequence` an id: that of which a later entry says that it is its parent or the
  /// head, or that of its place. What the index file holds stays.
  void nameUnreadable(Sequence sequence, std::string_view id);
  /// Leaves the head where it was before the last entry, which named one that is nowhere.
  void keepHead(Sequence head, Sequence headEntry);
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
  /// The number with which the system refused to read the index file; 0 when it never did.
  [[nodiscard]] int refusal() const;

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

  std::uint64_t seed_;
  std::unique_ptr<IndexFile> file_;
  Sequence fileCount_ = 0;
  FreshRecords fresh_;
  IndexSummary summary_;
  bool damaged_ = false;
};

/// The record that begins at an offset of the log, and its sequence.
std::optional<std::pair<Sequence, IndexRecord>> recordAt(OffsetIndex& index, std::uint64_t offset);

}  // namespace bough
