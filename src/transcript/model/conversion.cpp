#include "transcript/model/conversion.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/bytes/flat_map.h"
#include "base/json/json_scan.h"
#include "message/dialect/entry_message.h"
#include "message/roundtrip/session_convert.h"

namespace bough::transcript {
namespace {

using message::ConvertedMessage;
using message::History;
using message::Original;
using message::SessionMessage;

// A branch that is not larger is converted in one part.
constexpr std::size_t kPartEntries = 256;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;
// A turn with more entries may also be cut between a result and the next answer.
constexpr std::size_t kLongTurnEntries = 2'048;

// Appends a message in the target's dialect, even when no provider wrote it.
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

std::uint64_t idHash(const Block& block) {
  return hashOf(block.id.decode());
}

// Returns the first message that a converted message was made from; std::nullopt when it was added.
std::optional<std::size_t> messageIndexOf(const ConvertedMessage& each, const History& history) {
  for (const std::int32_t index : each.originals) {
    const std::int64_t document = history.originals[static_cast<std::size_t>(index)].messageIndex;
    if (document >= 0) return static_cast<std::size_t>(document);
  }
  return std::nullopt;
}

// The properties of a message that determine where a part may end.
struct Outline {
  bool isUser = false;
  bool isAnswer = false;
  bool hasText = false;
  std::vector<std::uint64_t> calls{};    // hashes of their ids
  std::vector<std::uint64_t> results{};  // likewise
  bool hasNameless = false;              // a call or a result without an id
};

Outline outlineOf(const EntryList& entries, const Edits& edits, std::size_t place) {
  Outline outline;
  if (!entries.isMessage(place) || entries.isHidden(place)) return outline;
  const EntryPin entry = edits.at(place);
  if (!entry) return outline;
  const auto message = normalizeEntry(*entry);
  if (!message) return outline;
  outline.isUser = message->role == Role::User;
  outline.isAnswer = message->role == Role::Assistant;
  for (const Block& block : message->blocks) {
    const bool isCall = block.kind == BlockKind::ToolCall;
    const bool isResult = block.kind == BlockKind::ToolResult;
    if (isCall || isResult) outline.hasNameless |= block.idMissing;
    if (isCall) outline.calls.push_back(idHash(block));
    if (isResult) outline.results.push_back(idHash(block));
    const std::string text = block.kind == BlockKind::Text ? block.text.decode() : std::string();
    outline.hasText |= text.find_first_not_of(" \t\r\n\f\v") != std::string::npos;
  }
  return outline;
}

// The kinds of messages that cuts distinguish.
enum class Kind : std::uint8_t { Other, Question, Answer, Calls, Results };

Kind kindOf(const Outline& outline) {
  if (!outline.results.empty()) return Kind::Results;
  if (outline.isUser) return outline.hasText ? Kind::Question : Kind::Other;
  if (!outline.isAnswer) return Kind::Other;
  if (!outline.calls.empty()) return Kind::Calls;
  return outline.hasText ? Kind::Answer : Kind::Other;
}

// Returns whether a part of this size may end between two messages.
bool mayCut(Kind before, Kind after, std::size_t entries, std::size_t bytes) {
  const bool isTurn = before == Kind::Answer && after == Kind::Question;
  if (isTurn) return entries >= kPartEntries || bytes >= kPartBytes;
  const bool isStep =
      (before == Kind::Results || before == Kind::Question) && (after == Kind::Calls || after == Kind::Answer);
  return isStep && (entries >= kLongTurnEntries || bytes >= kPartBytes * 4);
}

}  // namespace

MessageConversion::MessageConversion(const EntryList& entries, const EntryTree& tree,
                                     const std::vector<std::size_t>& leaves, Dialect target,
                                     CompatibilityReport& report, std::size_t head)
    : entries_(entries),
      tree_(tree),
      edits_(entries, tree, head == EntryTree::kNone && !leaves.empty() ? leaves.front() : head),
      target_(target),
      report_(report),
      head_(head),
      branchOf_(entries.size()),
      isSkipped_(entries.size()),
      mayStartPart_(entries.size()) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::CompactionSummary) continue;
    mayStartPart_[i] = true;
    const auto kept = json::findString(entries.at(i)->payload, "firstKeptEntryId");
    const std::size_t first = kept ? tree.find(*kept) : EntryTree::kNone;
    // A result stays with its call, so the call is not kept in that case.
    if (first != EntryTree::kNone && outlineOf(entries, edits_, first).results.empty()) mayStartPart_[first] = true;
  }
  for (const std::size_t leaf : leaves) addBranch(leaf);
}

void MessageConversion::addBranch(std::size_t leaf) {
  Branch branch;
  const auto number = static_cast<std::uint32_t>(branches_.size() + 1);
  std::size_t at = leaf;
  for (; at != EntryTree::kNone && branchOf_[at] == 0; at = tree_.parent(at)) {
    branchOf_[at] = number;
    branch.places.push_back(at);
  }
  const auto isMessage = [&](std::size_t place) { return entries_.isMessage(place); };
  branch.isWhole = at == EntryTree::kNone;
  if (std::ranges::none_of(branch.places, isMessage)) branch.places.clear();
  if (!branch.places.empty() && !branch.isWhole) addCalls(branch, at);
  std::ranges::reverse(branch.places);
  findCuts(branch);
  branches_.push_back(std::move(branch));
}

// A result needs its call, which may be in an earlier branch. The places are in reverse order; `before` is the next
// one.
void MessageConversion::addCalls(Branch& branch, std::size_t before) const {
  std::unordered_set<std::uint64_t> wanted;
  bool hasNameless = false;
  // Results follow their calls directly: results after an answer have their calls in that answer.
  for (auto place = branch.places.rbegin(); place != branch.places.rend(); ++place) {
    const Outline outline = outlineOf(entries_, edits_, *place);
    if (outline.isAnswer || (outline.isUser && outline.results.empty())) break;
    wanted.insert(outline.results.begin(), outline.results.end());
    hasNameless |= outline.hasNameless;
  }
  for (; before != EntryTree::kNone && (!wanted.empty() || hasNameless); before = tree_.parent(before)) {
    const Outline outline = outlineOf(entries_, edits_, before);
    for (const std::uint64_t call : outline.calls) wanted.erase(call);
    if (!outline.calls.empty() && outline.hasNameless) hasNameless = false;
    branch.places.push_back(before);
    if (outline.isUser && outline.results.empty()) break;
  }
}

// The places are in order. A cut must be at a point where the messages on both sides are not joined and no later result
// answers an earlier call.
void MessageConversion::findCuts(Branch& branch) const {
  std::size_t bytes = 0;
  for (const std::size_t place : branch.places) bytes += entries_.payloadBytes(place);
  const std::size_t count = branch.places.size();
  if (count <= kPartEntries && bytes <= kPartBytes) return;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> open;  // calls without a result, by id
  std::vector<std::size_t> reach(count);  // for each message: index of the last result of its calls
  std::vector<Kind> kinds(count, Kind::Other);
  for (std::size_t i = 0; i < count; ++i) {
    const Outline outline = outlineOf(entries_, edits_, branch.places[i]);
    kinds[i] = kindOf(outline);
    for (const std::uint64_t call : outline.calls) open[call].push_back(i);
    for (const std::uint64_t result : outline.results) {
      const auto calls = open.find(result);
      if (calls == open.end()) continue;
      reach[calls->second.back()] = i;  // the latest call of that id
      calls->second.pop_back();
      if (calls->second.empty()) open.erase(calls);
    }
  }
  std::size_t answered = 0;  // index of the last result of all calls so far
  std::size_t begin = 0;
  std::size_t partBytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && answered < i && mayCut(kinds[i - 1], kinds[i], i - begin, partBytes)) {
      branch.cuts.push_back(i);
      begin = i;
      partBytes = 0;
    }
    answered = std::max(answered, reach[i]);
    partBytes += entries_.payloadBytes(branch.places[i]);
  }
}

std::size_t MessageConversion::endOfPart(const Branch& branch) const {
  const auto cut = std::ranges::upper_bound(branch.cuts, branch.next);
  const std::size_t end = cut == branch.cuts.end() ? branch.places.size() : *cut;
  for (std::size_t i = branch.next + 1; i < end; ++i) {
    if (mayStartPart_[branch.places[i]]) return i;
  }
  return end;
}

void MessageConversion::convertNext(Branch& branch) {
  const std::size_t begin = branch.next;
  branch.next = endOfPart(branch);
  const auto first = branch.places.begin();
  convert({first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(branch.next)}, branch,
          begin == 0 && branch.isWhole);
}

void MessageConversion::convert(const std::vector<std::size_t>& part, Branch& branch, bool isBeginning) {
  const auto number = static_cast<std::uint32_t>(&branch - branches_.data() + 1);
  std::vector<SessionMessage> messages;
  std::vector<std::size_t> places;
  std::vector<EntryPin> pins;
  bool isApart =
      // whether the next message is not joined: a branch begins, the head's branch ends, or a summary separates two
      // messages
      false;
  for (const std::size_t place : part) {
    const bool isAfterHead = head_ != EntryTree::kNone && tree_.parent(place) == head_;
    isApart |= isAfterHead || tree_.isBranch(place) || entries_.kind(place) == EntryKind::BranchSummary;
    if (!entries_.isMessage(place) || entries_.isHidden(place) || edits_.leavesOut(place)) continue;
    const EntryPin& entry = pins.emplace_back(edits_.at(place));
    messages.push_back({.entryId = entry->id,
                        .type = entry->type,
                        .payload = entry->payload,
                        .system = {},
                        .tools = {},
                        .neverJoined = std::exchange(isApart, false)});
    places.push_back(place);
  }
  if (places.empty()) return;
  History history;
  history.isBeginning = isBeginning;
  history.hasMore = true;  // a file is not sent unchanged: the user says something first
  history.earlier = &branch.calls;
  message::Reporter reporter(report_);
  const std::uint64_t before = report_.messages;
  const bool isRead = message::readSession(messages, nullptr, history, reporter).has_value();
  report_.messages = before;
  if (!isRead) return;
  // A file has no other place for typed text.
  for (Original& original : history.originals) original.hasNoProvider = original.message.role == Role::System;
  const auto converted = message::convertSession(history, target_, {}, {}, reporter);
  std::unordered_map<std::size_t, std::vector<std::string>> fresh;
  std::size_t owner = places.front();
  // A message that was added after a branch point, such as a result for a call, belongs only to this branch. It is
  // written together with the entry after it.
  std::vector<std::string> waiting;
  for (const ConvertedMessage& each : converted.messages) {
    const auto document = messageIndexOf(each, history);
    const std::size_t lastOwner = owner;
    if (document) owner = places[*document];
    if (document && !waiting.empty()) {
      std::ranges::move(waiting, std::back_inserter(fresh[isSkipped_[owner] ? lastOwner : owner]));
      waiting.clear();
    }
    const bool waits = !document && tree_.isBranchPoint(owner) && owner != places.back();
    addConverted(std::string_view(converted.text).substr(each.begin, each.end - each.begin), each.dialect, target_,
                 waits ? waiting : fresh[owner]);
  }
  std::ranges::move(waiting, std::back_inserter(fresh[owner]));
  for (const std::size_t place : places) {
    if (branchOf_[place] != number) continue;
    ++report_.messages;
    if (!isSkipped_[place]) converted_.try_emplace(place, std::move(fresh[place]));
  }
}

std::unordered_map<std::size_t, std::vector<std::string>>::iterator MessageConversion::findConverted(
    std::size_t place) {
  const std::uint32_t number = branchOf_[place];
  if (number == 0 || entries_.isHidden(place) || !entries_.isMessage(place)) return converted_.end();
  Branch& branch = branches_[number - 1];
  auto found = converted_.find(place);
  for (; found == converted_.end() && branch.next < branch.places.size(); found = converted_.find(place))
    convertNext(branch);
  return found;
}

std::vector<std::string> MessageConversion::peekAnswers(const std::vector<std::string>& messages,
                                                        std::span<const std::size_t> after,
                                                        const std::function<bool(std::size_t place)>& isCopied) {
  std::vector<std::string> answers;
  const auto hasCalls = [](const std::string& message) { return message.contains(R"("tool_use")"); };
  if (std::ranges::none_of(messages, hasCalls)) return answers;
  for (const std::size_t place : after) {
    if (isCopied(place)) return answers;
    const auto found = findConverted(place);
    if (found == converted_.end()) continue;
    for (const std::string& message : found->second) {
      const bool isResult = json::findString(message, "role") == "user" && message.contains(R"("tool_result")");
      if (!isResult) return answers;
      answers.push_back(message);
    }
  }
  return answers;
}

std::vector<std::string> MessageConversion::takeMessages(std::size_t place) {
  const auto found = findConverted(place);
  if (found == converted_.end()) return {};
  std::vector<std::string> messages = std::move(found->second);
  converted_.erase(found);
  return messages;
}

void MessageConversion::skip(std::size_t place) {
  isSkipped_[place] = true;
  converted_.erase(place);
}

void MessageConversion::convertRest() {
  for (Branch& branch : branches_) {
    while (branch.next < branch.places.size()) {
      convertNext(branch);
      converted_.clear();
    }
  }
}

}  // namespace bough::transcript
