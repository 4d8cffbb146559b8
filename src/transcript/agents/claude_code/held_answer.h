// The lines of an answer that are held back until the rest of the answer comes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "transcript/agents/claude_code/line.h"
#include "transcript/source/held.h"

namespace bough::transcript::claude_code {

/// Returns the name of an answer: all its lines have the same message id and request id. Empty when the line is not
/// part of an answer.
inline std::string answerKey(const Line& line) {
  const MessageParts& parts = partsOf(line);
  return parts.id.empty() ? std::string() : parts.id + '\n' + line.requestId;
}

/// A line that is held back.
struct HeldLine {
  explicit HeldLine(const Record& from) : record(from) {}
  HeldLine(const Record& from, Line&& parsed, bool ofAnswer)
      : record(from), line(std::move(parsed)), isBlock(ofAnswer) {
    rebaseSlices(*line, from.text, record.record().text);
  }
  HeldLine(const HeldLine&) = delete;
  HeldLine& operator=(const HeldLine&) = delete;

  HeldRecord record;
  /// Points into the record. Empty when the record is not JSON or repeats an earlier line.
  std::optional<Line> line{};
  bool isBlock = false;  ///< It is a block of the answer.
};

/// Returns whether a line is one or a few blocks of an answer that may have more lines.
bool isAnswerLine(const Line& line);

/// The lines from the first line of an answer on, as long as more lines may belong to it. Subagents may write between
/// them: lines of another chain are held back together with the answer.
class HeldAnswer {
 public:
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::uint64_t offset() const { return lines_.front().record.offset(); }

  /// Takes a line that begins an answer which may have more lines, and empties `line`. Returns false when the line does
  /// not begin an answer.
  bool begin(const Record& record, Line& line);
  /// Takes a line that belongs to the answer or may be between its lines. Returns false when it does not belong there,
  /// or when there is no room for it.
  bool add(const Record& record, Line& line);
  /// The same for a record that is not JSON or repeats an earlier line: blank lines and damaged lines do not end an
  /// answer.
  bool add(const Record& record);

  /// Returns all lines and becomes empty.
  std::deque<HeldLine> takeLines();

 private:
  void hold(const Record& record, Line& line);
  [[nodiscard]] bool belongs(const Line& line) const;
  [[nodiscard]] bool isOfOtherChain(const Line& line) const;
  [[nodiscard]] bool hasRoom(const Record& record) const;

  std::deque<HeldLine> lines_;  // a deque, so that its elements do not move
  std::unordered_set<std::string> uuids_;
  std::size_t bytes_ = 0;
  std::size_t otherChainLines_ = 0;
  std::string key_;
  bool isSidechain_ = false;
};

}  // namespace bough::transcript::claude_code
