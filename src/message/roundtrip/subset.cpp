// Writes a message with only some of its blocks, after the others were replaced by their originals.
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

// A whole response, and a content of Gemini, may have no role.
std::string roleOf(const Original& original) {
  const Message& message = original.message;
  if (message.roleName.present) return std::string(message.roleName.escaped);
  if (message.role == Role::Assistant) return original.dialect == Dialect::Gemini ? "model" : "assistant";
  return message.role == Role::System ? "system" : "user";
}

// Writes a whole response: its items, each either whole or as a message with the remaining parts.
std::string responseSubset(const Original& original, const std::vector<const Block*>& blocks) {
  const json::Tree& tree = *original.tree;
  std::string items;
  for (const json::Tree::Index item : tree.elements(tree.find(original.node, "output"))) {
    const std::string_view raw = tree.raw(item);
    std::vector<const Block*> inside;
    for (const Block* block : blocks) {
      if (block->raw.data() >= raw.data() && block->raw.data() < raw.data() + raw.size()) inside.push_back(block);
    }
    if (inside.empty()) continue;
    if (!items.empty()) items += ',';
    const bool whole = inside.front()->raw.size() == raw.size();
    items += whole ? std::string(raw) : R"({"type":"message","role":"assistant","content":)" + list(inside) + "}";
  }
  return "{\"output\":[" + items + "]}";
}

// String content counts as one block; in a list it needs the dialect's object around it.
std::string dressed(const Block& block, std::string_view before) {
  return std::string(before) + std::string(block.raw) + "}";
}

std::string chatSubset(const Original& original, const std::vector<const Block*>& blocks) {
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
    } else if (block->type.escaped == "audio" && block->id.present) {
      beside += ",\"audio\":" + std::string(block->raw);
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
  std::string out = "{\"role\":\"" + roleOf(original) + "\",\"content\":" + content;
  if (!calls.empty()) out += ",\"tool_calls\":" + list(calls);
  return out + beside + "}";
}

}  // namespace

bool isWholeResponse(const Original& original) {
  if (original.dialect != Dialect::OpenaiResponses || original.section != Section::Messages ||
      original.isRequestMember || original.tree == nullptr) {
    return false;
  }
  const json::Tree& tree = *original.tree;
  return tree.find(original.node, "type") == json::Tree::kNone && tree.isArray(tree.find(original.node, "output"));
}

std::string subsetOf(const Original& original, const std::vector<const Block*>& blocks) {
  if (isWholeResponse(original)) return responseSubset(original, blocks);
  const bool oneString = blocks.size() == 1 && blocks.front()->raw.starts_with('"');
  const std::string role = "{\"role\":\"" + roleOf(original) + "\"";
  switch (original.dialect) {
    case Dialect::OpenaiChat: return chatSubset(original, blocks);
    case Dialect::Gemini: {
      std::string parts = oneString ? "[" + dressed(*blocks.front(), "{\"text\":") + "]" : list(blocks);
      return (original.isRequestMember ? "{" : role + ",") + "\"parts\":" + std::move(parts) + "}";
    }
    default: {
      const std::string content = oneString ? std::string(blocks.front()->raw) : list(blocks);
      return original.isRequestMember ? content : role + ",\"content\":" + content + "}";
    }
  }
}

}  // namespace bough::message
