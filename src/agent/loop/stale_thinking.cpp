#include "agent/loop/stale_thinking.h"

#include <algorithm>
#include <set>

#include "agent/parts/json_parts.h"

namespace bough::agent {
namespace {

bool isThinking(std::string_view block) {
  const auto type = json::findString(block, "type");
  return type == "thinking" || type == "redacted_thinking";
}

// Returns the message without its thinking; empty when nothing else is in it.
std::string withoutThinking(std::string_view message) {
  const std::string_view content = memberOr(message, "content", "[]");
  if (json::kindOf(content) != json::Kind::Array) return std::string(message);
  json::Writer writer;
  std::size_t count = 0;
  writer.beginArray();
  json::ArrayReader blocks(content);
  while (const auto block = blocks.next()) {
    if (isThinking(*block)) continue;
    writer.raw(*block);
    ++count;
  }
  writer.endArray();
  if (count == 0) return {};
  JsonObjectEditor members(message);
  members.set("content", writer.take());
  return members.text();
}

}  // namespace

std::string requestWithoutStaleThinking(const Context& context) {
  std::set<std::string> stale;
  for (const SignatureStatus& each : context.report.signatures) {
    if (each.state == SignatureState::Invalid && each.provider == context.dialect) stale.insert(each.entryId);
  }
  if (stale.empty() || context.dialect != Dialect::Anthropic) return context.requestJson();
  json::Writer writer;
  writer.beginArray();
  for (const ContextMessage& part : context.parts) {
    const auto isStale = [&](const std::string& id) { return stale.contains(id); };
    if (std::ranges::none_of(part.entryIds, isStale)) {
      writer.raw(part.json);
    } else if (const std::string kept = withoutThinking(part.json); !kept.empty()) {
      writer.raw(kept);
    }
  }
  writer.endArray();
  JsonObjectEditor request(context.requestJson());
  request.set("messages", writer.take());
  return request.text();
}

}  // namespace bough::agent
