#include "agent/loop/interruption.h"

#include <algorithm>
#include <ranges>

#include "agent/loop/tool_runner.h"
#include "agent/parts/json_parts.h"
#include "base/model/shown.h"
#include "base/try.h"

namespace bough::agent {
namespace {

using Kind = Interruption::Kind;

bool isOwn(const Entry& entry) {
  return !entry.meta.empty() && json::findString(entry.meta, "agent") == kAgentName;
}

bool isEndOfTurn(const Entry& entry) {
  if (entry.type != entry_type::kCustom) return false;
  const auto kind = json::findString(entry.payload, "kind");
  return kind == kTurnKind || kind == kTurnAbortedKind;
}

bool hasCalls(const Message& message) {
  return std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind == BlockKind::ToolCall; });
}

// Returns true for results of tools, which some dialects put into user messages.
bool holdsResults(const Message& message) {
  return message.role == Role::Tool ||
         std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind == BlockKind::ToolResult; });
}

struct FoundInterruption {
  Interruption found{};
  bool isCertain = false;  // no earlier entry can change the result
};

// Examines the end of a branch, back to the message that began the turn. A turn in which anything is redacted is not
// continued. `chosen`: the entries to which somebody moved. What is before them is not continued, even if another model
// was chosen since.
FoundInterruption interruptionIn(const std::vector<Entry>& entries, const std::vector<std::string>& chosen) {
  const FoundInterruption kNone{.found = {}, .isCertain = true};
  Interruption found;
  const auto isFound = [&] { return found.kind != Kind::None; };
  for (const Entry& entry : std::views::reverse(entries)) {
    if (isEndOfTurn(entry) || std::ranges::find(chosen, entry.id) != chosen.end()) return {found, true};
    if (!holdsMessage(entry)) continue;
    if (entry.redacted) return kNone;
    const auto message = normalizeEntry(entry);
    if (!message && !isFound()) return kNone;
    if (!message || holdsResults(*message) || message->role == Role::System) continue;
    if (message->role == Role::User) {
      if (!isFound()) found = {.kind = isOwn(entry) ? Kind::Message : Kind::OthersMessage, .entryId = entry.id};
      return {found, true};
    }
    if (isFound()) continue;
    if (!hasCalls(*message) || !isOwn(entry)) return kNone;
    found = {.kind = Kind::Calls, .entryId = entry.id};
  }
  return {found, false};
}

// Returns the entry to which the head was last moved, and the entry where a fork begins.
Result<std::vector<std::string>> chosenEntries(SessionStore& store, const std::string& sessionId) {
  std::vector<std::string> chosen;
  BOUGH_TRY(const auto state, store.sessionState(sessionId));
  if (state.origin) chosen.push_back(state.origin->entryId);
  BOUGH_TRY(const auto moves, store.loadSessionEntries(sessionId, {.last = 1, .type = std::string(entry_type::kHead)}));
  if (!moves.empty()) chosen.push_back(json::findString(moves.back().payload, "entryId").value_or(""));
  return chosen;
}

}  // namespace

Result<Interruption> findInterruption(SessionStore& store, const StartingPoint& start) {
  if (start.headId.empty()) return Interruption{};
  BOUGH_TRY(const auto chosen, chosenEntries(store, start.sessionId));
  const auto isEnough = [&](const std::vector<Entry>& read) { return interruptionIn(read, chosen).isCertain; };
  BOUGH_TRY(const auto entries, loadBack(store, start.sessionId, start.headId, isEnough));
  return interruptionIn(entries, chosen).found;
}

Result<bool> isInterrupted(SessionStore& store, const StartingPoint& start) {
  BOUGH_TRY(const Interruption found, findInterruption(store, start));
  return found.kind == Kind::Calls || found.kind == Kind::Message;
}

}  // namespace bough::agent
