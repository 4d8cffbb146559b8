#include "store/sharing/redactions.h"

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/text/timestamp.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"

namespace bough {
namespace {

// Returns the payload that replaces a redacted one.
std::string redactedPayload(const Entry& redaction) {
  json::Writer writer;
  writer.beginObject().key("redacted").beginObject().member("redactionId", redaction.id);
  for (const std::string_view name : {"by", "reason", "erased"}) {
    if (const auto value = json::findMember(redaction.payload, name)) writer.key(name).raw(*value);
  }
  return writer.endObject().endObject().take();
}

// Decides which of two redactions of one entry counts: the receipt of an erasure, which says more, or else the earlier
// one. Their order in the log does not matter, because it differs between two stores that were synchronized.
bool takesPrecedence(const Entry& redaction, const Entry& other) {
  const bool erased = json::findMember(redaction.payload, "erased").has_value();
  if (erased != json::findMember(other.payload, "erased").has_value()) return erased;
  const auto place = [](const Entry& each) {
    return std::pair(parseTimestamp(each.timestamp).value_or(0), std::string_view(each.id));
  };
  return place(redaction) < place(other);
}

}  // namespace

void Redactions::add(Entry redaction) {
  if (redaction.type != entry_type::kRedaction) return;
  auto target = json::findString(redaction.payload, "entryId");
  if (!target) return;
  const auto [known, fresh] = byTarget_.try_emplace(std::move(*target));
  if (fresh || takesPrecedence(redaction, known->second)) known->second = std::move(redaction);
}

const Entry* Redactions::redactionOf(const Entry& entry) const {
  if (byTarget_.empty()) return nullptr;
  const auto own = byTarget_.find(entry.id);
  if (own != byTarget_.end()) return &own->second;
  const auto migration = entry.meta.empty() ? std::nullopt : json::findMember(entry.meta, "migration");
  if (!migration) return nullptr;
  for (const auto& [id, redaction] : byTarget_) {
    if (migration->contains('"' + id + '"')) return &redaction;
  }
  return nullptr;
}

bool Redactions::hide(Entry& entry) const {
  const Entry* const redaction = redactionOf(entry);
  if (redaction == nullptr || !canBeRedacted(entryKind(entry.type))) return false;
  if (isUnreadable(entry)) {
    addRedaction(entry, redactedPayload(*redaction));
  } else {
    entry.payload = redactedPayload(*redaction);
  }
  entry.redacted = true;
  return true;
}

}  // namespace bough
