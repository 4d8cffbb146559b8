#include "context/session_parts.h"

#include <algorithm>
#include <functional>

namespace bough::context {
namespace {

bool hasText(const Message& message) {
  return std::ranges::any_of(message.blocks, [](const Block& block) {
    return block.kind == BlockKind::Text && block.text.decode().find_first_not_of(" \t\r\n\f\v") != std::string::npos;
  });
}

}  // namespace

void SessionParts::add(std::uint64_t place, const Entry& entry) {
  const auto index = static_cast<std::uint32_t>(messages_.size());
  messages_.push_back({.place = place, .bytes = entry.payload.size()});
  const auto message = entry.redacted ? std::unexpected(Error{}) : normalizeEntry(entry);
  if (!message) return;
  bool calls = false;
  bool results = false;
  bool answers = false;  // a result without a call is left out, and the messages around it are joined
  for (const Block& block : message->blocks) {
    const bool isCall = block.kind == BlockKind::ToolCall;
    const bool isResult = block.kind == BlockKind::ToolResult;
    if (!isCall && !isResult) continue;
    calls = calls || isCall;
    results = results || isResult;
    const std::uint64_t id = std::hash<std::string>{}(block.id.decode());
    if (isCall) {
      SameIdCalls& same = calls_[id];
      same.last = index;
      same.waiting.push_back(index);
      ++messages_[index].open;
      continue;
    }
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;
    // A second result can be reported as such only when its call is in the same part.
    SameIdCalls& same = found->second;
    messages_[same.waiting.empty() ? same.last : same.waiting.back()].reach = index;
    if (same.waiting.empty()) continue;
    --messages_[same.waiting.back()].open;
    same.waiting.pop_back();
    answers = true;
  }
  Kind kind = Kind::Other;
  if (results) {
    kind = answers ? Kind::Results : Kind::Other;
  } else if (message->role == Role::Assistant) {
    kind = calls ? Kind::Calls : hasText(*message) ? Kind::Answer : Kind::Other;
  } else if (message->role == Role::User && hasText(*message)) {
    kind = Kind::Question;
  }
  messages_[index].kind = kind;
}

bool SessionParts::canCut(Kind before, Kind after, std::uint64_t bytes) const {
  const bool isTurn = before == Kind::Answer && after == Kind::Question;
  const bool isStep =
      (before == Kind::Results || before == Kind::Question) && (after == Kind::Calls || after == Kind::Answer);
  return (isTurn && bytes >= partBytes_) || (isStep && bytes >= partBytes_ * 2);
}

std::vector<std::uint64_t> SessionParts::partStarts() const {
  std::vector<std::uint64_t> partStarts;
  std::uint64_t bytes = 0;
  std::size_t answered = 0;  // last result of all calls so far
  bool waits = false;        // a call of this turn has no result
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const SeenMessage& each = messages_[i];
    if (i > 0 && answered < i && !waits && canCut(messages_[i - 1].kind, each.kind, bytes)) {
      partStarts.push_back(each.place);
      bytes = 0;
    }
    waits = (waits && each.kind != Kind::Question) || each.open > 0;
    answered = std::max<std::size_t>(answered, each.reach);
    bytes += each.bytes;
  }
  return partStarts;
}

}  // namespace bough::context
