#include "store/rules/renamed_places.h"

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {

std::string renamedPlacesPayload(const std::map<std::string, std::string>& renamed) {
  json::Writer writer;
  writer.beginObject().key("places").beginObject();
  for (const auto& [name, now] : renamed) writer.member(name, now);
  return writer.endObject().endObject().take();
}

std::optional<std::string> renamedIn(std::string_view payload, std::string_view name) {
  const auto places = json::findMember(payload, "places");
  return places ? json::findString(*places, name) : std::nullopt;
}

}  // namespace bough
