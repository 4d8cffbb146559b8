#include "transcript/model/items.h"

#include <algorithm>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "message/dialect/entry_message.h"
#include "message/roundtrip/session_convert.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

using message::History;
using message::Original;
using message::SessionMessage;
using message::SessionNode;

bool inConversation(const Entry& entry) {
  return isConversation(entryKind(entry.type));
}

// In the target's dialect, though no provider wrote it.
void addConverted(std::string_view json, Dialect from, Dialect target, std::vector<std::string>& out) {
  if (from == target) {
    out.emplace_back(json);
    return;
  }
  const auto message = normalize(json, from);
  if (!message) return;
  auto written = denormalize(*message, target);
  if (!written) return;
  for (std::string& one : written->messages) out.push_back(std::move(one));
}

// Converts one branch; entries that are in `done` already stay as they are.
// `isBeginning`: the conversation begins here.
void convertBranch(const std::vector<Entry>& entries, const EntryTree& tree, const std::vector<std::size_t>& path,
                   bool isBeginning, Dialect target, std::unordered_map<std::size_t, std::vector<std::string>>& done,
                   CompatibilityReport& report) {
  std::vector<SessionMessage> messages;
  std::vector<std::size_t> places;
  for (const std::size_t place : path) {
    const Entry& entry = entries[place];
    if (!message::isMessageType(entry.type) || entry.redacted) continue;
    messages.push_back({.entryId = entry.id,
                        .type = entry.type,
                        .payload = entry.payload,
                        .system = {},
                        .tools = {},
                        .apart = tree.isBranch(place)});
    places.push_back(place);
  }
  History history;
  message::Reporter reporter(report);
  if (!message::readSession(messages, nullptr, history, reporter)) return;
  // A file has no other place for typed text.
  for (Original& original : history.originals) original.neutral = original.message.role == Role::System;
  const auto converted = message::convertSession(history, target, {}, {}, reporter);
  std::unordered_map<std::size_t, std::vector<std::string>> fresh;
  std::size_t owner = places.empty() ? 0 : places.front();
  for (const SessionNode& node : converted.nodes) {
    // What a dialect wants at the beginning of a conversation is not wanted after a summary.
    if (!isBeginning && node.originals.empty() && &node == &converted.nodes.front()) continue;
    for (const std::int32_t index : node.originals) {
      const std::int64_t document = history.originals[static_cast<std::size_t>(index)].documentIndex;
      if (document < 0) continue;
      owner = places[static_cast<std::size_t>(document)];
      break;
    }
    addConverted(std::string_view(converted.text).substr(node.begin, node.end - node.begin), node.dialect, target,
                 fresh[owner]);
  }
  for (const std::size_t place : places) done.try_emplace(place, std::move(fresh[place]));
}

// A message of the user that answers no calls.
bool beginsTurn(const Entry& entry) {
  if (entry.type != entry_type::kMessage || entry.redacted) return false;
  const auto dialect = namedDialect(entry);
  const auto stored = json::findMember(entry.payload, "message");
  const auto message = dialect && stored ? normalize(*stored, dialect->value_or(Dialect::Plain))
                                         : Result<Message>(fail(ErrorCode::Unsupported, "", ""));
  return message && message->role == Role::User &&
         std::ranges::none_of(message->blocks, [](const Block& block) { return block.kind == BlockKind::ToolResult; });
}

// A branch in the parts that a context may begin or end with: a summary is between messages, and what it keeps
// begins in the middle. Turns must not be merged across.
std::vector<std::vector<std::size_t>> partsOf(const std::vector<Entry>& entries, const std::vector<std::size_t>& path) {
  std::unordered_set<std::string> starts;
  for (const std::size_t place : path) {
    if (entries[place].type != entry_type::kCompactionSummary) continue;
    starts.insert(entries[place].id);
    starts.insert(json::findString(entries[place].payload, "firstKeptEntryId").value_or(""));
  }
  std::vector<std::vector<std::size_t>> parts(1);
  for (const std::size_t place : path) {
    if (starts.contains(entries[place].id) && !parts.back().empty()) parts.emplace_back();
    parts.back().push_back(place);
  }
  return parts;
}

}  // namespace

EntryTree::EntryTree(const std::vector<Entry>& entries)
    : entries_(entries), parents_(entries.size(), kNone), childCounts_(entries.size()) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!inConversation(entries[i])) continue;
    if (entries[i].parentId && !entries[i].parentId->empty()) parents_[i] = find(*entries[i].parentId);
    if (parents_[i] != kNone) ++childCounts_[parents_[i]];
    places_.emplace(entries[i].id, i);
  }
}

std::size_t EntryTree::find(std::string_view id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? kNone : found->second;
}

std::vector<std::size_t> EntryTree::path(std::size_t leaf) const {
  std::vector<std::size_t> path;
  for (std::size_t at = leaf; at != kNone; at = parents_[at]) path.push_back(at);  // parents come earlier: it ends
  std::ranges::reverse(path);
  return path;
}

std::vector<std::size_t> EntryTree::leaves() const {
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (inConversation(entries_[i]) && childCounts_[i] == 0) leaves.push_back(i);
  }
  return leaves;
}

std::size_t EntryTree::head(std::string_view agent) const {
  std::size_t head = kNone;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!inConversation(entry) && entry.type != entry_type::kHead) continue;
    if (!agent.empty()) {
      const auto origin = originOf(entry);
      if (!origin || origin->agent != agent) continue;
    }
    head = entry.type == entry_type::kHead ? find(headNamedBy(entry.payload)) : i;
  }
  return head;
}

std::vector<std::string> keptBy(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t place) {
  if (entries[place].type != entry_type::kCompactionSummary) return {};
  const auto first = json::findString(entries[place].payload, "firstKeptEntryId");
  const std::size_t from = first ? tree.find(*first) : EntryTree::kNone;
  if (from == EntryTree::kNone) return {};
  std::vector<std::size_t> places;
  std::size_t at = tree.parent(place);
  for (; at != EntryTree::kNone && at >= from; at = tree.parent(at)) places.push_back(at);  // parents come earlier
  if (places.empty() || places.back() != from) return {};  // the entry is on another branch
  std::vector<std::string> kept;
  kept.reserve(places.size());
  for (auto each = places.rbegin(); each != places.rend(); ++each) kept.push_back(entries[*each].id);
  return kept;
}

std::unordered_map<std::size_t, std::vector<std::string>> convertEntries(const std::vector<Entry>& entries,
                                                                         const EntryTree& tree,
                                                                         const std::vector<std::size_t>& leaves,
                                                                         Dialect target, CompatibilityReport& report) {
  std::unordered_map<std::size_t, std::vector<std::string>> done;
  std::vector<bool> seen(entries.size());
  for (const std::size_t leaf : leaves) {
    std::vector<std::size_t> path;  // what no branch before this one holds, its end first
    std::size_t at = leaf;
    for (; at != EntryTree::kNone && !seen[at]; at = tree.parent(at)) {
      seen[at] = true;
      path.push_back(at);
    }
    const auto isMessage = [&](std::size_t place) { return message::isMessageType(entries[place].type); };
    if (std::ranges::none_of(path, isMessage)) continue;
    // A result needs its call, and an answer what was asked.
    for (; at != EntryTree::kNone && !beginsTurn(entries[path.back()]); at = tree.parent(at)) path.push_back(at);
    std::ranges::reverse(path);
    const auto parts = partsOf(entries, path);
    for (const auto& part : parts) {
      const bool isBeginning = &part == &parts.front() && at == EntryTree::kNone;
      convertBranch(entries, tree, part, isBeginning, target, done, report);
    }
  }
  return done;
}

}  // namespace bough::transcript
