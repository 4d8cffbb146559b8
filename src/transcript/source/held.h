// Records that are held back until later records come, because several records together form one entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/source/record.h"

namespace bough::transcript {

/// A copy of a record. Not for skipped records, whose bytes are not available.
class HeldRecord {
 public:
  explicit HeldRecord(const Record& record)
      : kind_(record.kind), offset_(record.offset), bytes_(record.raw), reason_(record.reason) {
    if (record.repaired) {
      repaired_ = record.text;
    } else if (!record.text.empty()) {
      textBegin_ = static_cast<std::size_t>(record.text.data() - record.raw.data());
      textSize_ = record.text.size();
    }
  }

  /// Returns a record that points into this object.
  [[nodiscard]] Record record() const {
    Record record;
    record.kind = kind_;
    record.offset = offset_;
    record.sizeBytes = bytes_.size();
    record.raw = bytes_;
    record.repaired = !repaired_.empty();
    record.text = record.repaired ? std::string_view(repaired_) : record.raw.substr(textBegin_, textSize_);
    record.reason = reason_;
    return record;
  }

  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  RecordKind kind_;
  std::uint64_t offset_;
  std::string bytes_;
  std::string reason_;
  std::string repaired_;  // the text, when it is not a part of the bytes
  std::size_t textBegin_ = 0;
  std::size_t textSize_ = 0;
};

/// Joins consecutive records of a file into one record with all their bytes.
class JoinedRecord {
 public:
  /// `held` must outlive this object.
  void add(const HeldRecord& held) {
    const Record record = held.record();
    if (parts_.empty()) offset_ = record.offset;
    const auto begin = static_cast<std::size_t>(record.repaired ? 0 : record.text.data() - record.raw.data());
    parts_.push_back({record, raw_.size() + begin});
    raw_ += record.raw;
  }

  /// Returns the joined record. Its `text` is all its bytes and points into this object.
  [[nodiscard]] Record record() const {
    Record record;
    record.kind = RecordKind::Json;
    record.offset = offset_;
    record.sizeBytes = raw_.size();
    record.raw = raw_;
    record.text = raw_;
    return record;
  }

  /// Returns the object of one of the records: a slice of the joined bytes, unless it is a repaired copy.
  [[nodiscard]] std::string_view text(std::size_t place) const {
    const Part& part = parts_[place];
    if (part.record.repaired) return part.record.text;
    return std::string_view(raw_).substr(part.textBegin, part.record.text.size());
  }

  /// Calls `use` for each record that has a problem.
  template <typename Use>
  void eachDamaged(const Use& use) const {
    for (const Part& part : parts_) {
      if (!part.record.reason.empty()) use(part.record);
    }
  }

 private:
  struct Part {
    Record record;
    std::size_t textBegin;  // index in raw_
  };
  std::string raw_;
  std::uint64_t offset_ = 0;
  std::vector<Part> parts_;
};

}  // namespace bough::transcript
