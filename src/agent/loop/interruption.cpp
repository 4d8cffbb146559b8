#include "agent/loop/interruption.h"

#include <algorithm>
#include <ranges>

#include "agent/loop/tool_runner.h"
#include "agent/parts/json_parts.h"
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
  return kind == kTurnKind || kind == kAbortedKind;
}

bool hasCalls(const Message& message) {
  return std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind == BlockKind::ToolCall; });
}

// Results of tools: some dialects have them in messages of the user.
bool holdsResults(const Message& message) {
  return message.role == Role::Tool ||
         std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind == BlockKind::ToolResult; });
}

// What the end of a branch says; none when it does not reach back far enough.
std::optional<Interruption> judge(const std::vector<Entry>& entries) {
  for (const Entry& entry : std::views::reverse(entries)) {
    if (isEndOfTurn(entry)) return Interruption{};
    if (!holdsMessage(entry)) continue;
    if (entry.redacted) return Interruption{};
    const auto message = normalizeEntry(entry);
    if (!message) return Interruption{};
    if (holdsResults(*message) || message->role == Role::System) continue;
    if (message->role == Role::User) {
      return Interruption{.kind = isOwn(entry) ? Kind::Message : Kind::OthersMessage, .entryId = entry.id};
    }
    if (!hasCalls(*message) || !isOwn(entry)) return Interruption{};
    return Interruption{.kind = Kind::Calls, .entryId = entry.id};
  }
  return std::nullopt;
}

// Whether the head is where somebody moved it, or where a fork begins, and not where a turn ended.
Result<bool> isChosen(SessionStore& store, const StartingPoint& start) {
  BOUGH_TRY(const auto state, store.sessionState(start.sessionId));
  if (state.origin && state.origin->entryId == start.headId) return true;
  BOUGH_TRY(const auto moves,
            store.loadSessionEntries(start.sessionId, {.last = 1, .type = std::string(entry_type::kHead)}));
  return !moves.empty() && json::findString(moves.back().payload, "entryId") == start.headId;
}

}  // namespace

Result<Interruption> findInterruption(SessionStore& store, const StartingPoint& start) {
  if (start.headId.empty()) return Interruption{};
  BOUGH_TRY(const bool chosen, isChosen(store, start));
  if (chosen) return Interruption{};
  BOUGH_TRY(const auto entries, loadBack(store, start.sessionId, start.headId,
                                         [](const std::vector<Entry>& read) { return judge(read).has_value(); }));
  return judge(entries).value_or(Interruption{});
}

Result<bool> isInterrupted(SessionStore& store, const StartingPoint& start) {
  BOUGH_TRY(const Interruption found, findInterruption(store, start));
  return found.kind == Kind::Calls || found.kind == Kind::Message;
}

}  // namespace bough::agent
