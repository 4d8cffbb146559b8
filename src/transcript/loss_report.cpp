#include "transcript/loss_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/json/json_scan.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

// Returns whether the word for a line outside the conversation is an agent's own, and not bough's word for bytes that
// are not a record of their own.
bool isAgentsWord(std::string_view lineKind) {
  constexpr std::string_view kNoRecord[] = {"", "blank", "damaged", "torn", "skipped", "repeated", "carrier"};
  return std::ranges::find(kNoRecord, lineKind) == std::end(kNoRecord);
}

bool contains(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

// Returns whether a result of a tool has several texts.
bool hasTexts(const Block& block) {
  return block.kind == BlockKind::ToolResult && std::ranges::count(block.content, BlockKind::Text, &Block::kind) > 1;
}

}  // namespace

void LossReport::add(std::string_view field) {
  auto& fields = report_.lossyFields;
  const auto found = std::ranges::find(fields, field);
  if (found == fields.end()) {
    fields.emplace_back(field);
    report_.lossyCounts.push_back(1);
  } else {
    ++report_.lossyCounts[static_cast<std::size_t>(found - fields.begin())];
  }
}

bool LossReport::lacks(std::string_view property) const {
  return contains(agent_.lacks, property) && !(isInAgentsFolder_ && contains(agent_.listed, property));
}

void LossReport::addSession(const TranscriptFacts& facts) {
  if (!facts.storeId.empty() && (facts.storeId != facts.sessionId || lacks("session.id"))) add("session.id");
  if (!facts.key.empty() && lacks("session.key")) add("session.key");
  if (!facts.cwd.empty() && lacks("session.cwd")) add("session.cwd");
  if (!facts.title.empty() && lacks("session.title")) add("session.title");
}

void LossReport::markWritten(std::size_t place, const Entry& entry, bool isMoreOfAnswer) {
  hasLine_[place] = true;
  if (!entry.runId.empty()) add("runId");
  if (!entry.meta.empty()) add("meta");
  if (!entry.extra.empty()) add("extra");
  const auto isOfMessages = [](std::string_view property) { return !property.starts_with("session."); };
  if (!holdsMessage(entry) || std::ranges::none_of(agent_.lacks, isOfMessages)) return;
  const auto message = normalizeEntry(entry);
  if (!message) return;
  const auto addIf = [&](bool has, std::string_view property) {
    if (has && lacks(property)) add(property);
  };
  addIf(message->usage.has_value() && !isMoreOfAnswer, "assistant.usage");
  addIf(message->model.present, "assistant.model");
  addIf(message->stopReason.present, "assistant.stop_reason");
  addIf(std::ranges::any_of(message->blocks, hasTexts), "tool_result.texts");
}

void LossReport::addWithoutLine() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (hasLine_[i] || entries_.isRedacted(i)) continue;
    if (entries_.kind(i) == EntryKind::Label) add("label");
    if (entries_.kind(i) == EntryKind::SessionInfo) addSettings(*entries_.at(i));
  }
}

void LossReport::addSettings(const Entry& entry) {
  const auto origin = originOf(entry);
  if (origin && !origin->carries && isAgentsWord(origin->lineKind)) add(entry_type::kSessionInfo);
  for (const std::string_view name : {"pinned", "timeToLiveMs"}) {
    if (json::findMember(entry.payload, name)) add(fmt::format("session.{}", name));
  }
}

}  // namespace bough::transcript
