#include "base/model/head.h"

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {

std::string headNamedBy(std::string_view payload) {
  return json::findString(payload, "entryId").value_or("");
}

std::string headPayload(std::string_view entryId) {
  return entryId.empty() ? R"({"entryId":null})" : "{\"entryId\":" + json::quoted(entryId) + "}";
}

std::optional<std::string_view> headAfter(EntryKind kind, std::string_view id, std::string_view payload,
                                          std::string& storage) {
  if (kind == EntryKind::Head) return storage = headNamedBy(payload);
  if (isConversation(kind)) return id;
  return std::nullopt;
}

}  // namespace bough
