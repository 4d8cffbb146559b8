// Reads bare entries: {"type"|"role": "user"|"assistant"|"tool_call"|"tool_use"|"tool_result", …} with string content.
#include "base/json/json_write.h"
#include "message/dialect/reader.h"

namespace bough::message {
namespace {

Tree::Index firstOf(const Tree& tree, Tree::Index object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Tree::Index found = tree.find(object, name);
    if (found != Tree::kNone) return found;
  }
  return Tree::kNone;
}

Problem readPlainCall(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolCall;
  block.raw = tree.raw(node);
  block.id = reader.text(firstOf(tree, node, {"tool_use_id", "tool_call_id", "toolCallId", "id"}));
  block.idMissing = !block.id.present;
  block.name = reader.text(firstOf(tree, node, {"name", "tool", "toolName"}));
  const Tree::Index input = firstOf(tree, node, {"input", "arguments", "args", "content"});
  if (!block.name.present) return "a tool call without a name";
  block.input = input == Tree::kNone ? "{}" : tree.raw(input);
  reader.out.role = Role::Assistant;
  reader.out.blocks.push_back(std::move(block));
  return std::nullopt;
}

// Returns whether a value is a list of blocks: texts, images and documents in Anthropic's form. Any other list is data.
bool isListOfBlocks(const Tree& tree, Tree::Index value) {
  if (!tree.isArray(value)) return false;
  std::size_t count = 0;
  for (const Tree::Index each : tree.elements(value)) {
    if (!tree.isObject(each)) return false;
    const Tree::Index type = tree.find(each, "type");
    const bool isText = tree.stringIs(type, "text") && tree.isString(tree.find(each, "text"));
    const bool isMedia =
        (tree.stringIs(type, "image") || tree.stringIs(type, "document")) && tree.isObject(tree.find(each, "source"));
    if (!isText && !isMedia) return false;
    ++count;
  }
  return count > 0;
}

// Reads the output of a tool: text, blocks, or data, which becomes the text of its JSON.
Problem readResultContent(Reader& reader, Tree::Index content, std::vector<Block>& out) {
  const Tree& tree = reader.tree;
  if (isListOfBlocks(tree, content)) {
    const auto problem = readAnthropicContent(reader, content);
    out.swap(reader.out.blocks);
    return problem;
  }
  Block& text = out.emplace_back();
  text.kind = BlockKind::Text;
  text.raw = tree.raw(content);
  text.text = tree.isString(content) ? reader.text(content) : reader.own(tree.raw(content));
  return std::nullopt;
}

Problem readPlainResult(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolResult;
  block.raw = tree.raw(node);
  block.id = reader.text(firstOf(tree, node, {"tool_use_id", "tool_call_id", "toolCallId", "id"}));
  block.idMissing = !block.id.present;
  block.name = reader.text(firstOf(tree, node, {"name", "tool", "toolName"}));
  const Tree::Index failed = firstOf(tree, node, {"is_error", "isError"});
  block.isError = failed != Tree::kNone && tree.kind(failed) == json::Kind::True;
  const Tree::Index content = firstOf(tree, node, {"content", "result", "output"});
  if (content == Tree::kNone) return "a tool result without content";
  if (const auto problem = readResultContent(reader, content, block.content)) return problem;
  reader.out.role = Role::Tool;
  reader.out.blocks.push_back(std::move(block));
  return std::nullopt;
}

}  // namespace

Problem readPlain(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  const Tree::Index type = firstOf(tree, node, {"type", "role"});
  out.roleName = reader.text(type);
  out.id = reader.text(tree.find(node, "id"));
  if (tree.stringIs(type, "tool_call") || tree.stringIs(type, "tool_use")) return readPlainCall(reader, node);
  if (tree.stringIs(type, "tool_result") || tree.stringIs(type, "tool")) return readPlainResult(reader, node);
  if (tree.stringIs(type, "user")) {
    out.role = Role::User;
  } else if (tree.stringIs(type, "assistant")) {
    out.role = Role::Assistant;
  } else if (tree.stringIs(type, "system")) {
    out.role = Role::System;
  } else {
    return "the type is none of user, assistant, system, tool_call, tool_use, tool_result";
  }
  const Tree::Index content = firstOf(tree, node, {"content", "text"});
  if (content == Tree::kNone) return "content is missing";
  return readAnthropicContent(reader, content);
}

}  // namespace bough::message
