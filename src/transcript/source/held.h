// Records that wait for the ones after them, because several together are one entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/source/record.h"

namespace bough::transcript {

/// A copy of a record that is one JSON object and was not repaired.
struct HeldRecord {
  explicit HeldRecord(const Record& record)
      : bytes(record.raw),
        offset(record.offset),
        textBegin(static_cast<std::size_t>(record.text.data() - record.raw.data())),
        textSize(record.text.size()) {}

  /// Points into `bytes`.
  [[nodiscard]] Record record() const {
    Record record;
    record.kind = RecordKind::Json;
    record.offset = offset;
    record.sizeBytes = bytes.size();
    record.raw = bytes;
    record.text = std::string_view(bytes).substr(textBegin, textSize);
    return record;
  }

  std::string bytes;
  std::uint64_t offset = 0;
  std::size_t textBegin = 0;
  std::size_t textSize = 0;
};

/// Records that follow one another in the file, as one record with all their bytes.
class JoinedRecord {
 public:
  void add(const HeldRecord& held) {
    if (raw_.empty()) offset_ = held.offset;
    texts_.emplace_back(raw_.size() + held.textBegin, held.textSize);
    raw_ += held.bytes;
  }

  /// Its `text` is all of it. Points into this object.
  [[nodiscard]] Record record() const {
    Record record;
    record.kind = RecordKind::Json;
    record.offset = offset_;
    record.sizeBytes = raw_.size();
    record.raw = raw_;
    record.text = raw_;
    return record;
  }

  /// The object of one of the records, where it is in the joined bytes.
  [[nodiscard]] std::string_view text(std::size_t place) const {
    return std::string_view(raw_).substr(texts_[place].first, texts_[place].second);
  }

 private:
  std::string raw_;
  std::uint64_t offset_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> texts_;
};

}  // namespace bough::transcript
