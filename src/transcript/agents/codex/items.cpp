#include "transcript/agents/codex/items.h"

#include "base/json/json_write.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

bool isInjected(std::string_view text) {
  constexpr std::string_view kBeginnings[] = {
      "<environment_context>",    "<user_instructions>",
      "<skills_instructions>",    "<permissions instructions>",
      "# AGENTS.md instructions", "<turn_aborted>",
      "<collaboration_mode>",     "<subagent_notification>",
      "<model_switch>",           "<skill>",
      "<personality_spec>",       "<apps_instructions>",
      "<user_shell_command>\n<",  "<INSTRUCTIONS>",
      "<recommended_plugins>",    "<world_state>",
  };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  for (const std::string_view beginning : kBeginnings) {
    if (text.starts_with(beginning)) return true;
  }
  return false;
}

std::string itemText(std::string_view list) {
  std::string text;
  if (list.empty() || json::kindOf(list) != json::Kind::Array) {
    return list.empty() ? text : json::decodeString(list).value_or("");
  }
  json::ArrayReader parts(list);
  while (const auto part = parts.next()) {
    const auto piece = json::findString(*part, "text");
    if (!piece) continue;
    if (!text.empty()) text += '\n';
    text += *piece;
  }
  return text;
}

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

// Later requests see the replacement: the messages that were kept, and the summary as the user's words.
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
