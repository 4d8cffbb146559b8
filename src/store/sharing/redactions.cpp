#include "store/sharing/redactions.h"

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"

namespace bough {
namespace {

// What takes the place of a redacted payload.
std::string redactedPayload(const Entry& redaction) {
  json::Writer writer;
  writer.beginObject().key("redacted").beginObject().member("redactionId", redaction.id);
  for (const std::string_view name : {"by", "reason", "erased"}) {
    if (const auto value = json::findMember(redaction.payload, name)) writer.key(name).raw(*value);
  }
  return writer.endObject().endObject().take();
}

}  // namespace

void Redactions::add(Entry redaction) {
  if (redaction.type != entry_type::kRedaction) return;
  auto target = json::findString(redaction.payload, "entryId");
  if (!target) return;
  // The receipt of an erasure says more than a redaction before it.
  if (json::findMember(redaction.payload, "erased")) {
    byTarget_.insert_or_assign(std::move(*target), std::move(redaction));
  } else {
    byTarget_.emplace(std::move(*target), std::move(redaction));
  }
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
