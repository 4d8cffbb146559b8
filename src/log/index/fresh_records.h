// The records of an index that its file does not have, and how to find one of them by the hash of its id.
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

/// Places count from 0, in the order in which records were added.
class FreshRecords {
 public:
  FreshRecords() = default;
  explicit FreshRecords(IndexRecords records) : records_(std::move(records)) {}

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] const IndexRecord& operator[](std::size_t place) const { return records_[place]; }
  [[nodiscard]] std::span<const IndexRecord> all() const { return records_; }
  /// Makes room for so many more.
  void reserve(std::size_t count) { records_.reserve(records_.size() + count); }

  void add(const IndexRecord& record) { records_.push_back(record); }
  /// The ids that the store makes grow: one that is greater than those before it is none of them.
  [[nodiscard]] bool isGreatest(std::string_view id) const { return id > greatestId_; }
  void setGreatest(std::string_view id) { greatestId_ = id; }
  /// Gives the record at `place` another id. Its slot for the old one stays, and leads to a record of another hash.
  void rename(std::size_t place, std::uint64_t idHash) {
    records_[place].idHash = idHash;
    if (place >= tabled_) return;
    insert(place);
    ++renamed_;
  }

  /// The place of the record with this hash of which `isWanted(record)` is true.
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
  /// Whether the table is in use, so that prefetch() helps.
  [[nodiscard]] bool hasTable() const { return !table_.empty(); }
  void prefetch(std::uint64_t idHash) const { __builtin_prefetch(&table_[idHash & (table_.size() - 1)], 1); }

 private:
  // At most half full, three quarters with the slots of old ids, so that probes stay short.
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
  IdTable table_;            // of places; its size is a power of two
  std::size_t tabled_ = 0;   // how many records are in it: it is filled when somebody looks for an id
  std::size_t renamed_ = 0;  // how many slots of the table are of ids that records had before
  std::string greatestId_;   // of all records, while isGreatest() is asked for each
};

}  // namespace bough
