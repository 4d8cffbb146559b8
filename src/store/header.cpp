#include "store/header.h"

#include "base/json_scan.h"
#include "base/json_write.h"

namespace bough {
namespace {

// Copies the members of an object, without the braces, but for those that `skip` names.
void copyMembers(json::Writer& writer, std::string_view object, std::initializer_list<std::string_view> skip) {
  json::ObjectReader members(object);
  while (const auto member = members.next()) {
    bool skipped = false;
    for (const std::string_view name : skip) skipped = skipped || member->keyIs(name);
    const std::string_view quotedKey(member->key.data() - 1, member->key.size() + 2);
    if (!skipped) writer.key(json::decodeString(quotedKey).value_or("")).raw(member->value);
  }
}

}  // namespace

HeaderInfo readHeader(const Entry& first) {
  HeaderInfo info;
  if (first.type != entry_type::kSessionHeader) return info;
  info.format = static_cast<int>(json::findUnsigned(first.payload, "format").value_or(0));
  info.key = json::findString(first.payload, "key").value_or("");
  info.cwd = json::findString(first.payload, "cwd").value_or("");
  if (const auto parent = json::findMember(first.payload, "parentSession")) {
    auto session = json::findString(*parent, "sessionId");
    auto entry = json::findString(*parent, "entryId");
    if (session && entry) info.origin = ForkOrigin{.sessionId = std::move(*session), .entryId = std::move(*entry)};
  }
  return info;
}

std::string makeHeaderPayload(const NewSession& session, const std::optional<ForkOrigin>& origin) {
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().member("format", std::uint64_t{kFormat}).member("sessionId", session.sessionId);
  if (!session.key.empty()) writer.member("key", session.key);
  if (!session.cwd.empty()) writer.member("cwd", session.cwd);
  if (origin) {
    writer.key("parentSession").beginObject();
    writer.member("sessionId", origin->sessionId).member("entryId", origin->entryId).endObject();
  }
  writer.endObject();
  return payload;
}

std::string upgradeHeaderPayload(std::string_view payload, std::string_view sessionId) {
  std::string upgraded;
  json::Writer writer(upgraded);
  writer.beginObject().member("format", std::uint64_t{kFormat}).member("sessionId", sessionId);
  copyMembers(writer, payload, {"format", "sessionId"});
  writer.endObject();
  return upgraded;
}

std::string detachHeaderPayload(std::string_view payload) {
  std::string detached;
  json::Writer writer(detached);
  writer.beginObject();
  copyMembers(writer, payload, {"parentSession"});
  if (const auto parent = json::findMember(payload, "parentSession")) writer.key("detachedFrom").raw(*parent);
  writer.endObject();
  return detached;
}

}  // namespace bough
