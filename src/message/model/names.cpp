// The names of dialects, roles, kinds of blocks and parts of a request.
#include <bough/message.h>
#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "message/model/request_names.h"

namespace bough {
namespace {

struct DialectName {
  Dialect dialect;
  std::string_view name;
};
constexpr DialectName kDialects[] = {{Dialect::Anthropic, "anthropic"},
                                     {Dialect::OpenaiChat, "openai-chat"},
                                     {Dialect::OpenaiResponses, "openai-responses"},
                                     {Dialect::Gemini, "gemini"},
                                     {Dialect::Plain, "plain"},
                                     {Dialect::Bough, "bough"}};

}  // namespace

std::string_view toString(Dialect dialect) {
  for (const DialectName& each : kDialects) {
    if (each.dialect == dialect) return each.name;
  }
  return "bough";
}

Result<Dialect> parseDialect(std::string_view name) {
  std::string all;
  for (const DialectName& each : kDialects) {
    if (each.name == name) return each.dialect;
    all += (all.empty() ? "" : ", ") + std::string(each.name);
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("unknown dialect \"{}\"", name), "one of " + all);
}

std::string_view toString(Role role) {
  switch (role) {
    case Role::System: return "system";
    case Role::User: return "user";
    case Role::Assistant: return "assistant";
    case Role::Tool: return "tool";
  }
  return "user";
}

std::string_view toString(BlockKind kind) {
  switch (kind) {
    case BlockKind::Text: return "text";
    case BlockKind::Thinking: return "thinking";
    case BlockKind::RedactedThinking: return "redacted_thinking";
    case BlockKind::ToolCall: return "tool_call";
    case BlockKind::ToolResult: return "tool_result";
    case BlockKind::Image: return "image";
    case BlockKind::Document: return "document";
    case BlockKind::Refusal: return "refusal";
    case BlockKind::Citation: return "citation";
    case BlockKind::Unknown: return "unknown";
  }
  return "unknown";
}

std::string TextView::decode() const {
  std::string out;
  out.reserve(escaped.size());
  json::appendDecoded(out, escaped);
  return out;
}

namespace message {

RequestNames requestNames(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return {"messages", "system", "tools"};
    case Dialect::OpenaiChat: return {"messages", "", "tools"};
    case Dialect::OpenaiResponses: return {"input", "instructions", "tools"};
    case Dialect::Gemini: return {"contents", "systemInstruction", "tools"};
    case Dialect::Plain:
    case Dialect::Bough: break;
  }
  return {"messages", "system", "tools"};
}

}  // namespace message
}  // namespace bough
