// A message of which only some blocks are left: what remains when the others were taken back to where they came from.
#include "message/roundtrip/restore.h"

namespace bough::message {
namespace {

std::string list(const std::vector<const Block*>& blocks) {
  std::string out = "[";
  for (const Block* block : blocks) {
    if (out.size() > 1) out += ',';
    out += block->raw;
  }
  return out + "]";
}

// String content counts as one block; in a list it needs the dialect's dress.
std::string dressed(const Block& block, std::string_view before) {
  return std::string(before) + std::string(block.raw) + "}";
}

std::string chatSubset(const Message& message, const std::vector<const Block*>& blocks) {
  std::vector<const Block*> calls;
  std::string content = "null";
  std::string parts;
  std::string beside;
  for (const Block* block : blocks) {
    const bool text = block->raw.starts_with('"');
    if (block->kind == BlockKind::ToolCall && block->idMissing) {
      beside += ",\"function_call\":" + std::string(block->raw);
    } else if (block->kind == BlockKind::ToolCall) {
      calls.push_back(block);
    } else if (text && (block->kind == BlockKind::Thinking || block->kind == BlockKind::Refusal)) {
      beside += block->kind == BlockKind::Thinking ? ",\"reasoning_content\":" : ",\"refusal\":";
      beside += block->raw;
    } else if (block->raw.starts_with('"')) {
      content = std::string(block->raw);
    } else {
      parts += (parts.empty() ? "" : ",") + std::string(block->raw);
    }
  }
  if (!parts.empty()) content = "[" + parts + "]";
  std::string out = "{\"role\":\"" + std::string(message.roleName.escaped) + "\",\"content\":" + content;
  if (!calls.empty()) out += ",\"tool_calls\":" + list(calls);
  return out + beside + "}";
}

}  // namespace

std::string subsetOf(const Original& original, const std::vector<const Block*>& blocks) {
  const Message& message = original.message;
  const bool oneString = blocks.size() == 1 && blocks.front()->raw.starts_with('"');
  const std::string role = "{\"role\":\"" + std::string(message.roleName.escaped) + "\"";
  switch (original.dialect) {
    case Dialect::OpenaiChat: return chatSubset(message, blocks);
    case Dialect::Gemini: {
      std::string parts = oneString ? "[" + dressed(*blocks.front(), "{\"text\":") + "]" : list(blocks);
      return (original.wholeSlot ? "{" : role + ",") + "\"parts\":" + std::move(parts) + "}";
    }
    default: {
      const std::string content = oneString ? std::string(blocks.front()->raw) : list(blocks);
      return original.wholeSlot ? content : role + ",\"content\":" + content + "}";
    }
  }
}

}  // namespace bough::message
