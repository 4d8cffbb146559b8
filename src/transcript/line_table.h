// What all entries say about their lines (model/origin.h), in a few bytes per entry. Reads each entry once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/entry_list.h"

namespace bough::transcript {

/// Provides lines as the bytes of a file.
class LinesSource : public ByteSource {
 public:
  explicit LinesSource(std::function<std::optional<std::string>()> next) : next_(std::move(next)) {}

  Result<std::size_t> read(std::span<char> out) override {
    while (used_ == line_.size()) {
      auto line = next_();
      if (!line) return 0;
      line_ = std::move(*line);
      used_ = 0;
    }
    const std::size_t size = line_.copy(out.data(), out.size(), used_);
    used_ += size;
    return size;
  }

 private:
  std::function<std::optional<std::string>()> next_;
  std::string line_;
  std::size_t used_ = 0;  // within line_
};

class LineTable {
 public:
  struct Line {
    std::uint64_t offset = 0;
    std::uint64_t sizeBytes = 0;
    std::uint32_t agent = 0;       ///< A number for the agent that wrote it; 0 for none.
    bool isOfTargetAgent = false;  ///< It is the agent whose file is written.
    bool isSameFormat = false;
    bool isTorn = false;
    bool isPart = false;  ///< A message whose line is kept by another entry.
  };

  LineTable(const EntryList& entries, const Agent& agent);

  [[nodiscard]] const Line& operator[](std::size_t place) const { return lines_[place]; }

  /// Returns false when no line has an id, as in pi's first version: such lines can only follow one another.
  [[nodiscard]] bool canBranch() const { return canBranch_; }

  /// Returns the offset of the first missing bytes when the lines are only some of a file's lines, as in a fork, which
  /// shares only one branch. Returns std::nullopt when nothing is missing, or when the lines begin at 0 and overlap:
  /// then the file was rewritten, or there are several files.
  [[nodiscard]] std::optional<std::uint64_t> firstGap() const;
  /// Returns whether the header that begins the agent's files is among the lines; true when its files have no header.
  [[nodiscard]] bool hasHeader(const EntryList& entries, const Agent& agent) const;

  /// Returns, by place, which entries can be copied when only some lines of a file are left and the first gap is at
  /// `gap`. Entries of one record are copied together. Pieces of a document are not copied, nor are entries that are
  /// named by the place of their line when that place changes.
  [[nodiscard]] std::vector<bool> copyableFromParts(std::vector<bool> own, const EntryList& entries,
                                                    std::uint64_t gap) const;

  /// Returns the places in the order of the agent's file, when their lines are a whole file; otherwise unchanged. Lines
  /// that went to another agent and came back may be stored in another order.
  [[nodiscard]] std::vector<std::size_t> inFileOrder(std::vector<std::size_t> places) const;

  /// Returns, by place, which entries can be copied: all entries of a record, or none of them.
  [[nodiscard]] std::vector<bool> wholeRecords(const std::vector<bool>& own) const;

 private:
  std::vector<Line> lines_;  // by place
  bool canBranch_ = true;
};

}  // namespace bough::transcript
