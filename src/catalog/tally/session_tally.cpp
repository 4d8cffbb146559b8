#include "catalog/tally/session_tally.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
#include "catalog/tally/title.h"

namespace bough::catalog {
namespace {

constexpr std::size_t kMaxOpenCalls = 256;
constexpr std::uint64_t kQuarterMs = 900'000;

}  // namespace

void SessionTally::addBranch(Branch branch) {
  tips_.emplace(branch.tipId, branches.size());
  branches.push_back(std::move(branch));
}

void SessionTally::addEntry(std::uint64_t sequence, const Entry& entry, std::uint64_t timeMs) {
  // A header has the time when the store got the session; messages of an imported session are older.
  const bool isFirstAfterHeader = sequence > 0 && row.lastId == row.headerId;
  row.facts.activeMs = isFirstAfterHeader ? timeMs : std::max(row.facts.activeMs, timeMs);
  row.lastId = entry.id;
  if (sequence == 0) addHeader(entry);
}

void SessionTally::addHeader(const Entry& entry) {
  SessionSummary& facts = row.facts;
  row.headerId = entry.id;
  facts.createdMs = parseTimestamp(entry.timestamp).value_or(0);
  if (entry.type != entry_type::kSessionHeader) return;
  facts.key = json::findString(entry.payload, "key").value_or("");
  facts.cwd = json::findString(entry.payload, "cwd").value_or("");
  if (const auto key = parseSessionKey(facts.key)) facts.agent = key->agent;
}

void SessionTally::addInfo(const Entry& entry, std::uint64_t timeMs) {
  SessionSummary& facts = row.facts;
  if (json::findMember(entry.payload, "usage")) {
    addUsage(entry, usageFacts(entry), branches.empty() ? 1 : branches.back().number, timeMs);
  }
  if (std::string agent = transcriptAgent(entry); !agent.empty()) facts.writtenBy = std::move(agent);
  if (const auto title = titleIn(entry)) {
    const TitleSource source = titleSourceOf(entry);
    if (title->empty()) {
      isTitleLost = true;
    } else if (source >= facts.titleSource) {
      facts.title = *title;
      facts.titleSource = source;
      row.titleEntryId = entry.id;
    }
  }
  if (const auto pinned = json::findMember(entry.payload, "pinned")) facts.pinned = *pinned == "true";
  if (json::findMember(entry.payload, "timeToLiveMs")) {
    facts.timeToLiveMs = json::findUnsigned(entry.payload, "timeToLiveMs");
    if (facts.timeToLiveMs == std::uint64_t{0}) facts.timeToLiveMs.reset();
  }
}

SessionTally::Branch& SessionTally::branchFor(const Entry& entry) {
  // An entry after the tip of a branch continues that branch; any other entry starts a new branch.
  auto tip = entry.parentId && !entry.parentId->empty() ? tips_.extract(*entry.parentId) : Tips::node_type();
  const std::size_t at = tip ? tip.mapped() : branches.size();
  if (!tip) {
    branches.push_back({.number = static_cast<std::uint32_t>(branches.size() + 1), .tipId = {}, .openCalls = {}});
  }
  branches[at].tipId = entry.id;
  if (tip) {
    tip.key() = entry.id;
    tips_.insert(std::move(tip)).position->second = at;
  } else {
    tips_.insert_or_assign(entry.id, at);
  }
  return branches[at];
}

void SessionTally::addConversation(const Entry& entry, const EntryFacts& facts, std::uint64_t timeMs, bool isHidden) {
  SessionSummary& summary = row.facts;
  if (row.firstMs == 0) row.firstMs = timeMs;
  Branch& branch = branchFor(entry);
  switch (facts.role) {
    case EntryRole::User: ++summary.userMessages; break;
    case EntryRole::Assistant: ++summary.assistantMessages; break;
    case EntryRole::Tool: ++summary.toolMessages; break;
    case EntryRole::System: ++summary.systemMessages; break;
    default: break;
  }
  summary.toolCalls += facts.callCount;
  summary.toolFailures += facts.failureCount;
  for (const std::string& call : facts.calls) {
    const bool odd = call.find('\n') != std::string::npos;
    if (!odd && branch.openCalls.size() < kMaxOpenCalls) branch.openCalls.push_back(call);
  }
  for (const std::string& result : facts.results) std::erase(branch.openCalls, result);
  if (!facts.model.empty()) row.lastModel = facts.model;
  if (facts.usage) addUsage(entry, facts, branch.number, timeMs);
  if (facts.durationMs < timeMs) row.firstMs = std::min(row.firstMs, timeMs - facts.durationMs);
  if (summary.titleSource == TitleSource::None && facts.role == EntryRole::User && !isHidden) {
    summary.title = titleFrom(facts);
    if (!summary.title.empty()) {
      summary.titleSource = TitleSource::Message;
      row.titleEntryId = entry.id;
      titleMs = timeMs;
    }
  } else if (facts.role == EntryRole::User && timeMs < summary.activeMs) {
    oldestLateMs = std::min(oldestLateMs.value_or(timeMs), timeMs);
  }
}

void SessionTally::addUsage(const Entry& entry, const EntryFacts& facts, std::uint32_t branch, std::uint64_t timeMs) {
  TalliedAnswer answer{.sequence = row.catalogedEntries,
                       .branch = branch,
                       .quarter = timeMs / kQuarterMs,
                       .model = facts.model.empty() ? row.lastModel : facts.model,
                       .identity = facts.identity,
                       .certain = facts.identityIsCertain,
                       .usage = *facts.usage};
  if (answer.identity.empty()) {
    // An answer that was stored block by block repeats its usage with each block.
    if (!facts.messageId.empty() && facts.messageId == row.lastMessageId) return;
    row.lastMessageId = facts.messageId;
    answer.identity = fmt::format("family {} {} {}", family_(), entry.id, parseTimestamp(entry.timestamp).value_or(0));
  }
  answers.push_back(std::move(answer));
}

bool SessionTally::isUnfinished(const std::string& headId) const {
  const auto head = tips_.find(headId);
  return head != tips_.end() && !branches[head->second].openCalls.empty();
}

}  // namespace bough::catalog
