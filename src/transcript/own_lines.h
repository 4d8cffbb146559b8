// What all entries say of their lines (model/origin.h), in a few bytes an entry: entries are read once for it.
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

/// Lines as the bytes of a file.
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
  std::size_t used_ = 0;  // of the line
};

class OwnLines {
 public:
  struct Line {
    std::uint64_t at = 0;
    std::uint64_t sizeBytes = 0;
    std::uint8_t agent = 0;  ///< A number of the agent that wrote it; 0: there is none.
    bool isAgents = false;   ///< That is the agent whose file is written.
    bool isSameFormat = false;
    bool isTorn = false;
    bool isPart = false;  ///< A message whose line another entry holds.
  };

  OwnLines(const EntryList& entries, const Agent& agent);

  [[nodiscard]] const Line& operator[](std::size_t place) const { return lines_[place]; }

  /// False when none of the lines has an id, as in pi's first version: they can only follow one another.
  [[nodiscard]] bool canBranch() const { return canBranch_; }

  /// Where the first bytes are missing when they are some lines of a file, as in a fork, which shares only a branch.
  /// None where lines overlap from the beginning on: the file was written again, or there are several.
  [[nodiscard]] std::optional<std::uint64_t> firstGap() const;
  /// Whether the header that the agent's files begin with is among them; true when they have none.
  [[nodiscard]] bool haveHeader(const EntryList& entries, const Agent& agent) const;

  /// Which entries can be copied of some lines of a file, by their place: those of one record together, without pieces
  /// of a document, and without those that are named by where their line is, and whose line gets another place.
  [[nodiscard]] std::vector<bool> ofParts(std::vector<bool> own, const EntryList& entries, std::uint64_t gap) const;

  /// Lines that went to another agent and came back may be stored in another order than the agent's. Where they are a
  /// whole file, each has its place in it.
  [[nodiscard]] std::vector<std::size_t> inFileOrder(std::vector<std::size_t> places) const;

  /// Which entries can be copied, by their place: those of one record together, or none of them.
  [[nodiscard]] std::vector<bool> wholeRecords(const std::vector<bool>& own) const;

 private:
  std::vector<Line> lines_;  // by place
  bool canBranch_ = true;
};

}  // namespace bough::transcript
