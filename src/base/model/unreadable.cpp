#include "base/model/unreadable.h"

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {

Entry unreadableEntry(std::string id, std::string parentId, std::uint64_t offset, std::uint64_t bytes,
                      std::string_view reason) {
  Entry entry;
  entry.id = std::move(id);
  entry.parentId = std::move(parentId);
  entry.type = kUnreadableType;
  json::Writer writer(entry.payload);
  writer.beginObject().key("unreadable").beginObject().member("offset", offset).member("bytes", bytes);
  writer.member("reason", reason).endObject().endObject();
  return entry;
}

std::string unreadableText(const Entry& entry) {
  const auto about = json::findMember(entry.payload, "unreadable").value_or("");
  return fmt::format("[unreadable entry, {} bytes at offset {}]", json::findMember(about, "bytes").value_or("?"),
                     json::findMember(about, "offset").value_or("?"));
}

}  // namespace bough
