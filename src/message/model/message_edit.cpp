#include "message/model/message_edit.h"

#include <bough/message.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough::message {
namespace {

void writeAnswered(json::Writer& writer, const Block& result, const std::string& content) {
  writer.beginArray().beginObject().member("type", "tool_result");
  if (!result.idMissing) writer.member("id", result.id.decode());
  if (result.name.present) writer.member("name", result.name.decode());
  if (result.isError) writer.member("isError", true);
  writer.key("content").raw(content).endObject().endArray();
}

}  // namespace

std::optional<MessageEdit> editIn(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  if (json::findString(entry.payload, "kind") != "edit") return std::nullopt;
  auto target = json::findString(entry.payload, "entryId");
  const auto content = json::findMember(entry.payload, "content");
  if (!target || target->empty() || !content) return std::nullopt;
  const json::Kind kind = json::kindOf(*content);
  if (kind != json::Kind::Array && kind != json::Kind::Null) return std::nullopt;
  return MessageEdit{.targetId = std::move(*target),
                     .content = kind == json::Kind::Null ? std::string() : std::string(*content)};
}

std::string leaveOutPayload(const std::string& targetId) {
  json::Writer writer;
  writer.beginObject().member("kind", "edit").member("entryId", targetId).key("content").raw("null");
  return writer.endObject().take();
}

std::optional<std::string> editedPayload(const Entry& message, const MessageEdit& edit) {
  const auto read = normalizeEntry(message);
  if (!read) return std::nullopt;
  const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
  const auto results = std::ranges::count_if(read->blocks, isResult);
  if (results > 1) return std::nullopt;
  const bool isAnswered = results == 1;
  json::Writer writer;
  writer.beginObject().member("dialect", toString(Dialect::Bough)).key("message").beginObject();
  writer.member("role", isAnswered ? "tool" : toString(read->role));
  if (read->role == Role::Assistant && read->model.present) writer.member("model", read->model.decode());
  writer.key("content");
  if (isAnswered) {
    writeAnswered(writer, *std::ranges::find_if(read->blocks, isResult), edit.content);
  } else {
    writer.raw(edit.content);
  }
  return writer.endObject().endObject().take();
}

}  // namespace bough::message
