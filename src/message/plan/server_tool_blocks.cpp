#include "message/plan/server_tool_blocks.h"

#include <algorithm>

#include "base/json/json_scan.h"

namespace bough::message {
namespace {

enum class Half : std::uint8_t { None, Call, Result };

Half anthropicHalf(std::string_view type) {
  if (type.ends_with("_tool_use")) return Half::Call;
  return type.ends_with("_tool_result") ? Half::Result : Half::None;
}

Half responsesHalf(std::string_view type) {
  static constexpr std::string_view kCalls[] = {"computer_call", "local_shell_call", "shell_call", "apply_patch_call"};
  const auto isCall = [](std::string_view name) { return std::ranges::find(kCalls, name) != std::end(kCalls); };
  if (isCall(type)) return Half::Call;
  constexpr std::string_view kOutput = "_output";
  const bool result = type.ends_with(kOutput) && isCall(type.substr(0, type.size() - kOutput.size()));
  return result ? Half::Result : Half::None;
}

Half geminiHalf(std::string_view type) {
  if (type == "executableCode" || type == "toolCall") return Half::Call;
  return type == "codeExecutionResult" || type == "toolResponse" ? Half::Result : Half::None;
}

}  // namespace

std::optional<ServerToolBlock> serverToolBlockOf(const Block& block, Dialect dialect) {
  if (block.kind != BlockKind::Unknown) return std::nullopt;
  const std::string_view type = block.type.escaped;
  const Half half = dialect == Dialect::Anthropic         ? anthropicHalf(type)
                    : dialect == Dialect::OpenaiResponses ? responsesHalf(type)
                    : dialect == Dialect::Gemini          ? geminiHalf(type)
                                                          : Half::None;
  if (half == Half::None) return std::nullopt;
  std::optional<std::string> id;
  if (dialect == Dialect::Anthropic) {
    id = json::findString(block.raw, half == Half::Call ? "id" : "tool_use_id");
  } else if (dialect == Dialect::OpenaiResponses) {
    id = json::findString(block.raw, "call_id");
    // The output of a local shell call has the call's id as its own id.
    if (!id) id = json::findString(block.raw, "id");
  } else if (const auto part = json::findMember(block.raw, type)) {
    id = json::findString(*part, "id");
  }
  return ServerToolBlock{.isResult = half == Half::Result, .id = id.value_or("")};
}

}  // namespace bough::message
