// Finds what a crash left unfinished: tool calls of a branch without a result, and whether they had been started.
#include <bough/context.h>

#include <map>
#include <unordered_map>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "context/branch.h"
#include "message/dialect/entry_message.h"
#include "message/plan/pairing.h"
#include "message/request/stored.h"

namespace bough {

Result<std::vector<UnfinishedToolCall>> unfinishedToolCalls(SessionStore& store, const std::string& sessionId,
                                                            const std::string& at) {
  BOUGH_TRY(auto branch, context::readBranch(store, sessionId, at));
  message::History history;
  struct Start {
    std::size_t place;
    std::string entryId;
  };
  std::map<std::string, Start, std::less<>> started;  // call id → its last tool_start
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t place = 0; place < branch.entries.size(); ++place) {
    const Entry& entry = branch.entries[place];
    places.emplace(entry.id, place);
    if (isUnreadable(entry)) message::addUnreadable(entry.id, history);
    if (entry.redacted) {
      if (message::isMessageType(entry.type)) {
        message::addRedacted(entry.id, entry.type, branch.hidden[entry.id], history);
      }
      continue;
    }
    if (message::isMessageType(entry.type)) {
      message::addEntryMessage(entry.id, entry.type, entry.payload, history);
    } else if (entry.type == entry_type::kToolStart) {
      if (auto id = json::findString(entry.payload, "toolCallId")) started[*id] = {place, entry.id};
    }
  }
  message::Pairing pairing = message::pairCalls(history);
  message::markRepeatedCalls(pairing);
  std::vector<UnfinishedToolCall> open;
  for (const message::Call& call : pairing.calls) {
    if (call.result != nullptr || call.repeated || call.redacted) continue;
    const message::Original& original = history.originals[static_cast<std::size_t>(call.original)];
    const Block& block = *call.block;
    UnfinishedToolCall& found = open.emplace_back();
    found.entryId = original.entryId;
    found.toolCallId = block.idMissing ? "" : block.id.decode();
    found.name = block.name.decode();
    found.input = block.freeform ? '"' + std::string(block.text.escaped) + '"' : std::string(block.input);
    const auto start = started.find(found.toolCallId);
    // An earlier call may have had the same id; its start precedes the entry of this call.
    const auto place = places.find(original.entryId);
    found.started = start != started.end() && !found.toolCallId.empty() &&
                    (place == places.end() || start->second.place > place->second);
    if (found.started) found.startedEntryId = start->second.entryId;
  }
  return open;
}

}  // namespace bough
