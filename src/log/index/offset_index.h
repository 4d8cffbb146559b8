// Where each entry of a log is, which entry is its parent, and how to find it by its id. With this index, a session of
// any size opens at once, and a branch is walked without reading its lines.
//
// One fixed-size record for each entry, in log order; an entry's place in that order is its sequence. Records of the
// index file (index_file.h) are loaded block by block when they are needed. Records of entries that were appended since
// then are kept in memory. The index is derived: when any part of it is doubtful, it is dropped and rebuilt from the
// log.
//
// Ids are stored as 64-bit hashes. Each index has its own seed, so that nobody can construct collisions. A caller
// confirms a candidate by reading its id from the log.
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

/// The result of comparing an id with a candidate's id in the log.
enum class IdMatch : std::uint8_t { Different, Same, Unreadable };

class OffsetIndex {
 public:
  /// Compares an id with the id of a candidate, which is read from the log. When that read fails, the index counts as
  /// damaged: a failed read is not a negative answer.
  using ConfirmId = std::function<IdMatch(const IndexRecord&, std::string_view id)>;

  /// Makes an empty index. `seed` may be any number; it keys the hashes.
  explicit OffsetIndex(std::uint64_t seed);
  /// Makes an index that continues the one in `file`.
  explicit OffsetIndex(std::unique_ptr<IndexFile> file);
  OffsetIndex(OffsetIndex&&) noexcept;
  OffsetIndex& operator=(OffsetIndex&&) noexcept;
  ~OffsetIndex();

  [[nodiscard]] const IndexSummary& summary() const { return summary_; }
  [[nodiscard]] ScanState scanState() const;
  void setScanState(const ScanState& state);
  /// Sets the checksum of the last covered bytes and the stamp of their file. Called before the index is saved.
  void setEdge(std::uint32_t sum, std::uint32_t fileStamp) {
    summary_.edgeSum = sum;
    summary_.fileStamp = fileStamp;
  }

  /// Returns the record at `sequence`, which must be smaller than summary().count. After a read error in the index file
  /// the record is empty, and damaged() is true.
  IndexRecord record(Sequence sequence);

  /// Passes all records to `use`, in order and in parts. Some are missing if damaged() is true afterwards. Unlike the
  /// records of record(), these are not checked for plausibility.
  void forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use);

  /// Returns the entry with this id. For an id that was made from the place of an unreadable entry, returns the entry
  /// at that place, even if it can be read by now.
  std::optional<Sequence> find(std::string_view id, const ConfirmId& confirm);

  /// Adds the entry of a scanned line. Returns false, and adds nothing, when the id is already there. `lastId` is the
  /// id of the entry that was added last, if known: most entries are children of it, so their parent need not be looked
  /// up. `lost` is used for a parent that exists nowhere.
  bool add(const ScannedLine& line, const ConfirmId& confirm, std::string_view lastId = {}, Sequence lost = kElsewhere);
  /// Adds an unreadable place as the entry that was there. Its kind is Other.
  void addUnreadable(IndexRecord record, bool movesHead);
  /// Gives the unreadable entry at `sequence` an id: the id that a later entry names as its parent or as the head, or
  /// the id made from its place. The index file is not changed.
  void nameUnreadable(Sequence sequence, std::string_view id);
  /// Restores the head from before the last entry, which named an entry that exists nowhere.
  void restoreHead(Sequence head, Sequence headEntry);
  /// Prefetches the table slot for the id of the line that `text` begins with, so that it is in the cache when the
  /// entry is added.
  void prefetchIdSlot(std::string_view text) const;
  /// Reserves room for `entries` entries.
  void reserve(std::size_t entries);
  void addProblem() {
    ++summary_.problemCount;
    summary_.doubtful = 1;
  }

  /// True when the index file turned out to be broken, or an id of the log could not be read: discard this index then.
  [[nodiscard]] bool damaged() const { return damaged_; }
  /// The errno with which the system refused to read the index file; 0 when it never did.
  [[nodiscard]] int refusal() const;

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool hasFile() const { return file_ != nullptr; }
  /// The number of bytes of the log that the index file does not cover.
  [[nodiscard]] std::uint64_t unsavedBytes() const;
  /// Returns true when so much was added since the file was written that it should be written again.
  [[nodiscard]] bool shouldRewrite() const;
  /// Appends the missing records to the index file. The caller holds the log's lock. Returns false when there is no
  /// file, or another process has changed it.
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

/// Returns the record that begins at an offset of the log, and its sequence.
std::optional<std::pair<Sequence, IndexRecord>> recordAt(OffsetIndex& index, std::uint64_t offset);

}  // namespace bough
