#include "transcript/agents/claude_code/held_answer.h"

namespace bough::transcript::claude_code {
namespace {

constexpr std::size_t kMaxHeldBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxHeldLines = 4096;
// A limit, because these lines are searched again for answers among them.
constexpr std::size_t kMaxOtherChainLines = 256;

// Returns whether a line can become an entry of the conversation; all other lines are only kept.
bool isTalkLine(const Line& line) {
  if (line.type == "system") return line.subtype == "local_command" || line.subtype == "compact_boundary";
  return line.type == "user" || line.type == "assistant";
}

}  // namespace

bool isAnswerLine(const Line& line) {
  if (line.type != "assistant" || line.uuid.empty()) return false;
  const MessageParts& parts = partsOf(line);
  return !parts.id.empty() && isKind(parts.content, json::Kind::Array);
}

bool HeldAnswer::begin(const Record& record, Line& line) {
  if (!isAnswerLine(line)) return false;
  key_ = answerKey(line);
  isSidechain_ = line.isSidechain;
  hold(record, line);
  return true;
}

bool HeldAnswer::add(const Record& record, Line& line) {
  if (!hasRoom(record) || !belongs(line)) return false;
  hold(record, line);
  return true;
}

bool HeldAnswer::add(const Record& record) {
  const bool isInside = record.kind != RecordKind::Torn && record.kind != RecordKind::Skipped;
  if (lines_.empty() || !isInside || !hasRoom(record)) return false;
  bytes_ += record.sizeBytes;
  lines_.emplace_back(record);
  return true;
}

bool HeldAnswer::belongs(const Line& line) const {
  if (!isTalkLine(line) && !uuids_.contains(line.uuid)) return true;
  if (!line.uuid.empty() && isOfOtherChain(line)) return otherChainLines_ < kMaxOtherChainLines;
  // Damage may have removed the id and the parent of a line of the answer. Any other line without an id stands alone.
  const bool isNamed = line.parentUuid && uuids_.contains(*line.parentUuid) && !uuids_.contains(line.uuid);
  if (line.type == "assistant") {
    return (isNamed || line.uuid.empty()) && isKind(partsOf(line).content, json::Kind::Array) &&
           line.isSidechain == isSidechain_ && answerKey(line) == key_;
  }
  return isNamed && line.type == "user" && isAllResults(partsOf(line).content);
}

bool HeldAnswer::isOfOtherChain(const Line& line) const {
  if (lines_.empty() || (!line.isSidechain && !isSidechain_) || uuids_.contains(line.uuid)) return false;
  return line.parentUuid && !uuids_.contains(*line.parentUuid);
}

bool HeldAnswer::hasRoom(const Record& record) const {
  return lines_.size() < kMaxHeldLines && bytes_ + record.sizeBytes <= kMaxHeldBytes;
}

void HeldAnswer::hold(const Record& record, Line& line) {
  bytes_ += record.sizeBytes;
  const bool isOther = isOfOtherChain(line);
  if (isOther) ++otherChainLines_;
  if (!line.uuid.empty() && !isOther) uuids_.insert(line.uuid);
  const bool isBlock = !isOther && line.type == "assistant";
  lines_.emplace_back(record, std::move(line), isBlock);
}

std::deque<HeldLine> HeldAnswer::takeLines() {
  std::deque<HeldLine> taken;
  taken.swap(lines_);
  uuids_.clear();
  bytes_ = 0;
  otherChainLines_ = 0;
  return taken;
}

}  // namespace bough::transcript::claude_code
