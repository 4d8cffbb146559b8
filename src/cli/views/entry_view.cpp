#include "cli/views/entry_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"

namespace bough::cli {

std::string summaryLine(const EntryView& view, std::size_t graphemes) {
  const auto says = [](const EntryPart& part) { return part.kind == BlockKind::Text && !part.text.empty(); };
  auto part = std::ranges::find_if(view.parts, says);
  if (part == view.parts.end()) {
    part = std::ranges::find_if(view.parts, [](const EntryPart& other) { return other.kind != BlockKind::Thinking; });
  }
  if (part == view.parts.end()) part = view.parts.begin();
  if (part == view.parts.end()) return {};
  if (part->kind == BlockKind::ToolCall) return text::excerpt(fmt::format("{}({})", part->name, part->text), graphemes);
  return text::excerpt(part->text, graphemes);
}

std::string entryJson(const Entry& entry, const EntryView& view) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("entryId", entry.id).key("parentId");
  entry.parentId && !entry.parentId->empty() ? writer.string(*entry.parentId) : writer.null();
  writer.member("type", entry.type).member("timestamp", entry.timestamp).member("speaker", view.speaker);
  if (entry.redacted) writer.member("redacted", true);
  writer.key("parts").beginArray();
  for (const EntryPart& part : view.parts) {
    writer.beginObject().member("kind", toString(part.kind));
    if (!part.name.empty()) writer.member("name", part.name);
    writer.member("text", part.text);
    if (part.isError) writer.member("isError", true);
    writer.endObject();
  }
  writer.endArray().endObject();
  return out;
}

}  // namespace bough::cli
