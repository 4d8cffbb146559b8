#include "store/rules/erasure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"

namespace bough {
namespace {

std::string upperCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

bool isStatement(std::string_view text) {
  constexpr std::size_t kMostBytes = 4096;
  return !text.empty() && text.size() <= kMostBytes && json::check(json::quoted(text)).has_value();
}

// Returns true when any string in a JSON value, at any depth, is the id of an entry of the plan.
bool namesTarget(const ErasurePlan& plan, std::string_view json) {
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at + 1)) {
    const std::size_t end = json.find('"', at + 1);
    if (end == std::string_view::npos) return false;
    if (plan.find(json.substr(at + 1, end - at - 1)) != nullptr) return true;
  }
  return false;
}

}  // namespace

const ErasureTarget* ErasurePlan::find(std::string_view entryId) const {
  const auto found = targets.find(entryId);
  return found == targets.end() ? nullptr : &found->second;
}

void ErasureTarget::setLine(std::string_view line) {
  storedSha256 = Sha256::of(line);
  sha256 = upperCase(storedSha256);
  bytes = line.size();
}

Result<void> checkErasure(const Erasure& erasure) {
  constexpr std::size_t kMostEntries = 10'000;
  if (erasure.entryIds.empty() || erasure.entryIds.size() > kMostEntries) {
    return fail(ErrorCode::InvalidArgument, "an erasure names 1 to 10,000 entries", "name them by their ids");
  }
  if (!isStatement(erasure.by) || !isStatement(erasure.reason)) {
    return fail(ErrorCode::InvalidArgument,
                "an erasure needs who asks for it and a reason, each 1 to 4,096 bytes of text",
                "both are kept in the receipt");
  }
  return {};
}

Result<void> addTarget(ErasurePlan& plan, const std::string& sessionId, const Entry& stored, IdGenerator& ids) {
  if (plan.find(stored.id) != nullptr) return {};
  if (!canBeRedacted(entryKind(stored.type))) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("entry {} is a {}: a session cannot be read without it, so it cannot be erased", stored.id,
                            stored.type),
                "name a message or another entry that says something");
  }
  if (isErasedPayload(stored.payload)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("entry {} was erased before", stored.id),
                "its receipt is a redaction entry of the session");
  }
  ErasureTarget target{.entryId = stored.id,
                       .sessionId = sessionId,
                       .storedSha256 = Sha256::of(stored.payload),
                       .sha256 = {},
                       .bytes = stored.payload.size(),
                       .receiptId = ids.next()};
  target.sha256 = upperCase(target.storedSha256);
  const auto place = isUnreadable(stored) ? json::findMember(stored.payload, "unreadable") : std::nullopt;
  if (const auto offset = place ? json::findUnsigned(*place, "offset") : std::nullopt) {
    target.damaged = DamagedPlace{.offset = *offset, .parentId = stored.parentId.value_or("")};
    target.bytes = json::findUnsigned(*place, "bytes").value_or(0);
  }
  if (const auto named = readAttachmentReference(stored.payload)) {
    // The attachment's name is its digest, so the attachment need not be readable.
    target.sha256 = upperCase(*named);
    const auto reference = json::findMember(stored.payload, "$attachment").value_or("");
    target.bytes = json::findUnsigned(reference, "bytes").value_or(0);
    plan.attachments.push_back(*named);
  }
  plan.targets.emplace(stored.id, std::move(target));
  return {};
}

bool isDerivedFrom(const ErasurePlan& plan, const Entry& stored) {
  const auto migration = stored.meta.empty() ? std::nullopt : json::findMember(stored.meta, "migration");
  if (migration && namesTarget(plan, *migration)) return true;
  const auto transcript = json::findMember(stored.payload, "transcript");
  const auto carries = transcript ? json::findMember(*transcript, "carries") : std::nullopt;
  return carries && namesTarget(plan, *carries);
}

std::optional<AgentLine> agentLineOf(std::string_view payload) {
  const auto transcript = json::findMember(payload, "transcript");
  if (!transcript) return std::nullopt;
  auto agent = json::findString(*transcript, "agent");
  const auto at = json::findUnsigned(*transcript, "at");
  if (!agent || !at) return std::nullopt;
  return AgentLine{
      .agent = std::move(*agent), .at = *at, .payloadHasLine = json::findMember(*transcript, "line").has_value()};
}

std::vector<std::string> wayBackAttachmentsIn(std::string_view line) {
  constexpr std::size_t kDigits = 64;
  std::vector<std::string> names;
  if (!line.contains("provider_migration")) return names;
  for (std::size_t at = line.find('"'); at != std::string_view::npos; at = line.find('"', at + 1)) {
    const std::string_view text = line.substr(at + 1, kDigits + 1);
    if (text.ends_with('"') && isSha256(text.substr(0, kDigits))) names.emplace_back(text.substr(0, kDigits));
  }
  return names;
}

bool wayBackNamesTarget(const ErasurePlan& plan, std::string_view wayBack) {
  return std::ranges::any_of(plan.targets, [&](const auto& each) {
    return wayBack.contains('"' + each.first + '"') || wayBack.contains('"' + each.first + "\\\"");
  });
}

bool isErasedPayload(std::string_view payload) {
  const auto erased = payload.starts_with(R"({"erased":{)") ? json::findMember(payload, "erased") : std::nullopt;
  return erased && json::findString(*erased, "receiptId").has_value();
}

Entry erasedEntry(const Entry& stored, const ErasureTarget& target) {
  Entry left{.id = stored.id, .parentId = stored.parentId, .type = stored.type, .timestamp = stored.timestamp};
  left.runId = stored.runId;
  json::Writer(left.payload)
      .beginObject()
      .key("erased")
      .beginObject()
      .member("receiptId", target.receiptId)
      .endObject()
      .endObject();
  return left;
}

Entry erasedDamagedEntry(const ErasurePlan& plan, const ErasureTarget& target) {
  Entry lost{.id = target.entryId, .parentId = target.damaged->parentId, .timestamp = plan.timestamp};
  lost.type = entry_type::kCustom;
  return erasedEntry(lost, target);
}

Entry receiptOf(const ErasurePlan& plan, const ErasureTarget& target, std::string_view parentId) {
  Entry receipt{.id = target.receiptId, .parentId = std::string(parentId), .timestamp = plan.timestamp};
  receipt.type = entry_type::kRedaction;
  json::Writer writer(receipt.payload);
  writer.beginObject().member("entryId", target.entryId).member("by", plan.by).member("reason", plan.reason);
  writer.key("erased").beginObject().member("sha256", target.sha256).member("bytes", target.bytes).endObject();
  writer.endObject();
  return receipt;
}

ErasureReport reportOf(const ErasurePlan& plan) {
  ErasureReport report{.sessionId = plan.sessionId, .timestamp = plan.timestamp};
  for (const auto& [id, target] : plan.targets) {
    report.entries.push_back(
        {.entryId = target.entryId, .receiptId = target.receiptId, .sha256 = target.sha256, .bytes = target.bytes});
  }
  return report;
}

}  // namespace bough
