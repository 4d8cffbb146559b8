// The records that the index file does not contain yet, and a table to find them by the hash of an id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "log/index/index_record.h"

namespace bough {

/// Places count from 0, in the order in which the records were added.
class FreshRecords {
 public:
  FreshRecords() = default;
  explicit FreshRecords(IndexRecords records) : records_(std::move(records)) {}

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] const IndexRecord& operator[](std::size_t place) const { return records_[place]; }
  [[nodiscard]] std::span<const IndexRecord> all() const { return records_; }
  /// Reserves room for `count` more records.
  void reserve(std::size_t count) { records_.reserve(records_.size() + count); }

  void add(const IndexRecord& record) { records_.push_back(record); }
  /// Ids that the store generates are ascending: an id greater than all earlier ids is new.
  [[nodiscard]] bool isGreatest(std::string_view id) const { return id > greatestId_; }
  void setGreatest(std::string_view id) { greatestId_ = id; }
  /// Gives the record at `place` another id. The slot of the old id stays and leads to a record with a different hash.
  void rename(std::size_t place, std::uint64_t idHash) {
    records_[place].idHash = idHash;
    if (place >= tabled_) return;
    insert(place);
    ++renamed_;
  }

  /// Returns the place of a record with this hash for which `isWanted(record)` is true.
  template <typename IsWanted>
  std::optional<std::size_t> find(std::uint64_t idHash, IsWanted isWanted) {
    if (records_.empty()) return std::nullopt;
    fillTable();
    const std::size_t mask = table_.size() - 1;
    for (std::size_t slot = idHash & mask; table_[slot] != kNoSequence; slot = (slot + 1) & mask) {
      const IndexRecord& candidate = records_[table_[slot]];
      if (candidate.idHash == idHash && isWanted(candidate)) return table_[slot];
    }
    return std::nullopt;
  }
  /// Returns true when the table is in use, so that prefetch() helps.
  [[nodiscard]] bool hasTable() const { return !table_.empty(); }
  void prefetch(std::uint64_t idHash) const { __builtin_prefetch(&table_[idHash & (table_.size() - 1)], 1); }

 private:
  // The table is at most half full, or three quarters full with the slots of old ids, so that probes stay short.
  void fillTable() {
    if (table_.empty() || table_.size() < records_.size() * 2 || renamed_ > table_.size() / 4) {
      table_.assign(std::bit_ceil(std::max<std::size_t>(records_.capacity(), 32) * 2), kNoSequence);
      tabled_ = 0;
      renamed_ = 0;
    }
    for (; tabled_ < records_.size(); ++tabled_) insert(tabled_);
  }

  void insert(std::size_t place) {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = records_[place].idHash & mask;
    while (table_[slot] != kNoSequence) slot = (slot + 1) & mask;
    table_[slot] = static_cast<Sequence>(place);
  }

  IndexRecords records_;
  IdTable table_;            // holds places; its size is a power of two
  std::size_t tabled_ = 0;   // number of records in the table, which is filled when an id is looked up
  std::size_t renamed_ = 0;  // number of slots with ids that records had before
  std::string greatestId_;   // the greatest id that was added; kept by the caller
};

}  // namespace bough
