// The lines of an answer that wait for the rest of it.
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

/// Names an answer: all its lines have the same id and request. Empty when the line is not of one.
inline std::string answerKey(const Line& line) {
  const MessageParts& parts = partsOf(line);
  return parts.id.empty() ? std::string() : parts.id + '\n' + line.requestId;
}

/// A line that waits.
struct Held {
  explicit Held(const Record& from) : record(from) {}
  Held(const Record& from, Line&& parsed, bool ofAnswer) : record(from), line(std::move(parsed)), isBlock(ofAnswer) {
    moveTo(*line, from.text, record.record().text);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  HeldRecord record;
  std::optional<Line> line{};  ///< Points into the record; none when that is not JSON, or was there before.
  bool isBlock = false;        ///< Of the answer.
};

/// Whether a line is one block, or a few, of an answer that may have more lines.
bool isAnswerLine(const Line& line);

/// The lines from the first of an answer on, as long as others may belong to it. Subagents may write between them:
/// lines of another chain wait with the answer.
class HeldAnswer {
 public:
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::uint64_t offset() const { return lines_.front().record.offset(); }

  /// Takes a line that begins an answer which may have more lines, and leaves nothing in `line`. False when this one
  /// does not begin one.
  bool open(const Record& record, Line& line);
  /// Takes a line that belongs to the answer, or may be between lines of it. False when it does not, and when there is
  /// no room for it.
  bool join(const Record& record, Line& line);
  /// The same for a record that is not JSON, or was there before: blank lines and damaged ones do not end an answer.
  bool join(const Record& record);

  /// All lines; afterwards there are none.
  std::deque<Held> take();

 private:
  void hold(const Record& record, Line& line);
  [[nodiscard]] bool belongs(const Line& line) const;
  [[nodiscard]] bool isOfOtherChain(const Line& line) const;
  [[nodiscard]] bool hasRoom(const Record& record) const;

  std::deque<Held> lines_;  // its elements stay where they are
  std::unordered_set<std::string> uuids_;
  std::size_t bytes_ = 0;
  std::size_t otherChainLines_ = 0;
  std::string key_;
  bool isSidechain_ = false;
};

}  // namespace bough::transcript::claude_code
