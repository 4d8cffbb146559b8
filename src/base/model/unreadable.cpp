#include "base/model/unreadable.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {
namespace {

constexpr std::string_view kIdOfPlace = "unreadable:";

}

std::string unreadableId(std::uint64_t offset) {
  return std::string(kIdOfPlace) + std::to_string(offset);
}

std::optional<std::uint64_t> offsetOfUnreadableId(std::string_view id) {
  std::uint64_t offset = 0;
  if (!id.starts_with(kIdOfPlace)) return std::nullopt;
  const auto [end, error] = std::from_chars(id.data() + kIdOfPlace.size(), id.data() + id.size(), offset);
  return error == std::errc() && end == id.data() + id.size() ? std::optional(offset) : std::nullopt;
}

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

void makeUnreadable(Entry& entry, std::string_view attachment, std::uint64_t bytes, std::string_view reason) {
  entry.type = kUnreadableType;
  entry.payload.clear();
  json::Writer writer(entry.payload);
  writer.beginObject().key("unreadable").beginObject().member("attachment", attachment).member("bytes", bytes);
  writer.member("reason", reason).endObject().endObject();
}

void addRedaction(Entry& entry, std::string_view redacted) {
  entry.payload.pop_back();
  entry.payload += ',';
  entry.payload += redacted.substr(1);
}

void keepAsText(Entry& entry) {
  const std::string text = unreadableText(entry);
  entry.type = entry_type::kCustom;
  entry.payload.clear();
  json::Writer(entry.payload).beginObject().member("kind", kUnreadableType).member("text", text).endObject();
}

std::string unreadableText(const Entry& entry) {
  const auto about = json::findMember(entry.payload, "unreadable").value_or("");
  const std::string_view redacted = json::findMember(entry.payload, "redacted") ? ", redacted" : "";
  if (const auto attachment = json::findString(about, "attachment")) {
    constexpr std::size_t kShort = 8;
    return fmt::format("[unreadable entry, {} bytes of attachment {}{}]",
                       json::findMember(about, "bytes").value_or("?"), attachment->substr(0, kShort), redacted);
  }
  return fmt::format("[unreadable entry, {} bytes at offset {}{}]", json::findMember(about, "bytes").value_or("?"),
                     json::findMember(about, "offset").value_or("?"), redacted);
}

}  // namespace bough
