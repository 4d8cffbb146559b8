#include "base/json/json_grammar.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/entry.h"

namespace bough {
namespace {

Entry makeEntry(std::string_view type, std::string payload) {
  Entry entry;
  entry.type = type;
  entry.payload = std::move(payload);
  return entry;
}

bool isObject(std::string_view text) {
  return json::check(text) && json::kindOf(text.substr(text.find_first_not_of(" \t\r\n"))) == json::Kind::Object;
}

Entry textMessage(std::string_view role, std::string_view text) {
  json::Writer writer;
  writer.beginObject().member("dialect", "bough").key("message").beginObject();
  writer.member("role", role).member("content", text).endObject().endObject();
  return makeEntry(entry_type::kMessage, writer.take());
}

}  // namespace

Entry userText(std::string_view text) {
  return textMessage("user", text);
}

Entry assistantText(std::string_view text) {
  return textMessage("assistant", text);
}

Entry systemText(std::string_view text) {
  return textMessage("system", text);
}

Entry rawMessage(std::string_view dialect, std::string_view rawJson) {
  // An incomplete message must not become a complete payload. Text that is not a JSON object stays unchanged, so that
  // the append rejects it.
  if (!isObject(rawJson)) return makeEntry(entry_type::kMessage, std::string(rawJson));
  json::Writer writer;
  writer.beginObject().member("dialect", dialect).key("message").raw(rawJson).endObject();
  return makeEntry(entry_type::kMessage, writer.take());
}

Entry assistant(std::string_view dialect, std::string_view rawJson) {
  return rawMessage(dialect, rawJson);
}

Entry toolResult(std::string_view callId, std::string_view text, bool isError) {
  json::Writer writer;
  writer.beginObject().member("dialect", "bough").key("message").beginObject().member("role", "tool");
  writer.key("content").beginArray().beginObject().member("type", "tool_result").member("id", callId);
  writer.member("content", text);
  if (isError) writer.member("isError", true);
  return makeEntry(entry_type::kMessage, writer.endObject().endArray().endObject().endObject().take());
}

}  // namespace bough
