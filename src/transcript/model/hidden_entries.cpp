// Redacted, erased and damaged entries of a list: what is known about them, and what replaces them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "transcript/model/entry_list.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

bool wasErased(const Entry& stored) {
  return stored.payload.starts_with(R"({"erased":{)");
}

struct CallName {
  std::string id;
  std::string name;
};

// The calls and results in a message.
struct Calling {
  bool isAnswer = false;  // by a model
  std::vector<CallName> calls;
  std::vector<CallName> results;
};

std::optional<Calling> callingIn(const Entry& entry) {
  const auto message = normalizeEntry(entry);
  if (!message) return std::nullopt;
  Calling calling{.isAnswer = message->role == Role::Assistant, .calls = {}, .results = {}};
  for (const Block& block : message->blocks) {
    const bool isCall = block.kind == BlockKind::ToolCall;
    if (!isCall && block.kind != BlockKind::ToolResult) continue;
    (isCall ? calling.calls : calling.results).push_back({block.id.decode(), block.name.decode()});
  }
  return calling;
}

// Returns a message with the same text for each of these results.
std::string resultsPayload(const std::vector<CallName>& results, std::string_view text) {
  json::Writer writer;
  writer.beginObject().member("dialect", "bough").key("message").beginObject().member("role", "tool");
  writer.key("content").beginArray();
  for (const CallName& result : results) {
    writer.beginObject().member("type", "tool_result").member("id", result.id);
    if (!result.name.empty()) writer.member("name", result.name);
    writer.member("content", text).endObject();
  }
  return writer.endArray().endObject().endObject().take();
}

// Adds the content of an entry, without the line that it came from.
void addSaid(const Entry& entry, json::TextSet& texts) {
  json::ObjectReader members(entry.payload);
  while (const auto member = members.next()) {
    if (member->key != "transcript" && member->key != "dialect") texts.add(member->key, member->value);
  }
}

}  // namespace

// Reads the hidden content only to find the author of a hidden message and the calls that it answered.
Result<void> EntryList::HiddenEntries::note(const Entry& entry, std::size_t place) {
  if (!entry.redacted || !list_.isInConversation(place)) return {};
  BOUGH_TRY(const auto stored, list_.session_->load({.fromSequence = place, .limit = 1, .showRedacted = true}));
  if (stored.empty() || stored.front().id != entry.id) return {};
  Hidden& hidden = hidden_[place];
  hidden.isErased = wasErased(stored.front());
  if (hidden.isErased) return {};
  if (!list_.isMessage(place)) return {};
  addSaid(stored.front(), said_);
  // Other entries may have come from the same line; the first of them keeps the line.
  const auto origin = originOf(stored.front());
  for (std::size_t before = place; origin && !origin->hasLine && before-- > 0;) {
    const EntryPin other = list_.at(before);
    const auto its = originOf(*other);
    if (list_.isRedacted(before)) continue;
    if (!its || its->agent != origin->agent || its->offset != origin->offset) break;
    if (its->hasLine) dropLine(before, *other);
  }
  const auto message = normalizeEntry(stored.front());
  if (message) hidden.role = message->role;
  const auto calling = callingIn(stored.front());
  if (calling && !calling->results.empty()) {
    replace(place, entry, resultsPayload(calling->results, "The result was redacted."));
  }
  return {};
}

// Drops lines with hidden content: lines that other entries came from as well, and lines that repeat the content.
void EntryList::HiddenEntries::dropLines() {
  for (std::size_t i = 0; !said_.empty() && i < list_.size(); ++i) {
    if (!list_.isMessage(i) || list_.isRedacted(i)) continue;
    const EntryPin entry = list_.at(i);
    const auto origin = originOf(*entry);
    const auto transcript = origin && origin->hasLine ? json::findMember(entry->payload, "transcript") : std::nullopt;
    const auto pieces = transcript ? json::findMember(*transcript, "line") : std::nullopt;
    if (!pieces) continue;
    json::TextSet own;
    addSaid(*entry, own);
    bool found = false;
    json::TextSet::each(*pieces, [&](std::string_view, std::string_view quoted) {
      std::string piece;
      json::appendDecoded(piece, quoted.substr(1, quoted.size() - 2));
      json::TextSet::each(piece, [&](std::string_view, std::string_view text) {
        found = found || (said_.repeats(text) && !own.repeats(text));
      });
    });
    if (found) dropLine(i, *entry);
  }
}

void EntryList::HiddenEntries::dropLine(std::size_t place, const Entry& entry) {
  auto without = std::make_shared<Entry>(entry);
  without->payload = "{";
  json::ObjectReader members(entry.payload);
  while (const auto member = members.next()) {
    if (member->key == "transcript") continue;
    if (without->payload.size() > 1) without->payload += ',';
    without->payload += fmt::format("\"{}\":{}", member->key, member->value);
  }
  without->payload += '}';
  replaced_[place] = std::move(without);
}

// Returns true for an entry that is damaged, or erased, or redacted in a list without a session.
bool EntryList::HiddenEntries::mayHoldResults(std::size_t place) const {
  if (!list_.isInConversation(place) || replaced_.contains(place)) return false;
  if (list_.outlines_[place].isUnreadable) return true;
  const Hidden* known = find(place);
  return list_.isRedacted(place) && list_.isMessage(place) && (known == nullptr || known->isErased);
}

void EntryList::HiddenEntries::end() {
  dropLines();
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (mayHoldResults(i)) inferResults(i);
  }
}

// Finds the calls that an unreadable entry answered: the calls directly before it that no other entry answers. When
// more unreadable entries follow, each of them has one result.
void EntryList::HiddenEntries::inferResults(std::size_t place) {
  constexpr std::size_t kNear = 4096;
  const auto callingAt = [&](std::size_t at) {
    const bool isReadable = list_.isMessage(at) && !list_.isHidden(at);
    return isReadable ? callingIn(*list_.at(at)) : std::nullopt;
  };
  std::vector<CallName> open;
  std::unordered_set<std::string> answered;
  bool isAtCalls = false;
  std::size_t steps = 0;
  for (std::size_t up = list_.parent(place); up != kNone && ++steps < kNear; up = list_.parent(up)) {
    const auto calling = callingAt(up);
    if (!calling || !calling->isAnswer) {
      if (isAtCalls || (calling && calling->results.empty())) break;
      if (!calling) continue;
      for (const CallName& result : calling->results) answered.insert(result.id);
      continue;
    }
    isAtCalls = true;
    open.insert(open.begin(), calling->calls.begin(), calling->calls.end());
  }
  if (open.empty()) return;
  std::size_t others = 0;
  std::unordered_set<std::size_t> after = {place};
  for (std::size_t next = place + 1; next < std::min(list_.size(), place + kNear); ++next) {
    if (!list_.isInConversation(next) || !after.contains(list_.parent(next))) continue;
    const auto calling = callingAt(next);
    if (calling && calling->results.empty()) continue;
    others += static_cast<std::size_t>(mayHoldResults(next));
    after.insert(next);
    for (std::size_t i = 0; calling && i < calling->results.size(); ++i) answered.insert(calling->results[i].id);
  }
  std::erase_if(open, [&](const CallName& call) { return answered.contains(call.id); });
  if (open.empty()) return;
  if (others > 0) open.resize(1);
  const bool isDamaged = list_.outlines_[place].isUnreadable;
  const bool isErased = !isDamaged && find(place) != nullptr;
  if (isDamaged) hidden_[place].isDamaged = true;
  replace(place, *list_.at(place),
          resultsPayload(open, isDamaged  ? "The result cannot be read: its entry is damaged."
                               : isErased ? "The result was erased."
                                          : "The result was redacted."));
}

void EntryList::HiddenEntries::replace(std::size_t place, const Entry& entry, std::string payload) {
  auto results = std::make_shared<Entry>(entry);
  results->type = entry_type::kMessage;
  results->payload = std::move(payload);
  results->redacted = true;  // it is not carried
  // The time of an unreadable entry is not known: it gets the time of the entry that it continues.
  for (std::size_t up = list_.parent(place); results->timestamp.empty() && up != kNone; up = list_.parent(up)) {
    results->timestamp = list_.at(up)->timestamp;
  }
  Outline& outline = list_.outlines_[place];
  outline.isMessage = outline.isRedacted = outline.answersCalls = true;
  replaced_[place] = std::move(results);
}

const EntryPin* EntryList::HiddenEntries::replacement(std::size_t place) const {
  const auto found = replaced_.find(place);
  return found == replaced_.end() ? nullptr : &found->second;
}

const EntryList::Hidden* EntryList::HiddenEntries::find(std::size_t place) const {
  const auto found = hidden_.find(place);
  return found == hidden_.end() ? nullptr : &found->second;
}

}  // namespace bough::transcript
