#include "transcript/agents/codex/items.h"

#include "base/json/json_write.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

std::string userItem(std::string_view text) {
  json::Writer writer;
  writer.beginObject().member("type", "message").member("role", "user").key("content").beginArray();
  writer.beginObject().member("type", "input_text").member("text", text).endObject().endArray().endObject();
  return writer.take();
}

std::string responseItem(std::string_view message) {
  const Members parts(message);
  if (parts.has("type") && (parts.text("type") != "message" || parts.isArray("content"))) return std::string(message);
  json::Writer writer;
  writer.beginObject().member("type", "message").member("role", parts.text("role")).key("content");
  if (parts.isString("content")) {
    const bool isAnswer = parts.text("role") == "assistant";
    writer.beginArray().beginObject().member("type", isAnswer ? "output_text" : "input_text");
    writer.key("text").raw(parts.raw("content")).endObject().endArray();
  } else {
    writer.raw(parts.isArray("content") ? parts.raw("content") : "[]");
  }
  return writer.endObject().take();
}

// What follows sees the replacement: the messages that were kept, and the summary as the user's words.
std::string compactedPayload(const Item& item, const WrittenItems& written) {
  const Members payload(item.entry->payload);
  const std::string summary = payload.text("summary");
  const bool isLast = payload.isTrue("summaryAfterKept");
  json::Writer writer;
  writer.beginObject().member("message", summary).key("replacement_history").beginArray();
  if (!isLast) writer.raw(userItem(summary));
  for (const std::string& id : item.kept) {
    const auto found = written.find(id);
    if (found == written.end()) continue;
    for (const std::string& one : found->second) writer.raw(one);
  }
  if (isLast) writer.raw(userItem(summary));
  return writer.endArray().endObject().take();
}

}  // namespace bough::transcript::codex
