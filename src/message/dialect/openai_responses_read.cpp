// Reads OpenAI's Responses API: a flat list of items, where calls, their outputs and reasoning are separate items.
#include "message/dialect/reader.h"

namespace bough::message {
namespace {

bool readResponsesPart(Reader& reader, Tree::Index node, std::string_view type, Block& block) {
  const Tree& tree = reader.tree;
  if (type == "input_text" || type == "output_text" || type == "text" || type == "refusal") {
    block.kind = type == "refusal" ? BlockKind::Refusal : BlockKind::Text;
    block.text = reader.text(tree.find(node, type == "refusal" ? "refusal" : "text"));
    return block.text.present;
  }
  if (type == "input_image") {
    block.kind = BlockKind::Image;
    if (reader.url(reader.text(tree.find(node, "image_url")), block)) return true;
    block.source = MediaSource::FileId;
    block.text = reader.text(tree.find(node, "file_id"));
    return block.text.present;
  }
  if (type == "input_file") {
    block.kind = BlockKind::Document;
    block.name = reader.text(tree.find(node, "filename"));
    if (reader.fileData(reader.text(tree.find(node, "file_data")), block)) return true;
    if (reader.url(reader.text(tree.find(node, "file_url")), block)) return true;
    block.source = MediaSource::FileId;
    block.text = reader.text(tree.find(node, "file_id"));
    return block.text.present;
  }
  return false;
}

bool isPartField(std::string_view name) {
  return name == "type" || name == "text" || name == "refusal" || name == "image_url" || name == "file_id" ||
         name == "file_data" || name == "file_url" || name == "filename" || name == "annotations";
}

void readParts(Reader& reader, Tree::Index content, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  if (tree.isString(content)) {
    Block& block = blocks.emplace_back();
    block.kind = BlockKind::Text;
    block.raw = tree.raw(content);
    block.text = reader.text(content);
    return;
  }
  for (const Tree::Index part : tree.elements(content)) {
    const TextView type = reader.text(tree.find(part, "type"));
    Block block;
    block.raw = tree.raw(part);
    if (!readResponsesPart(reader, part, type.escaped, block)) {
      const bool known = type.escaped.starts_with("input_") || type.escaped == "output_text" || !type.present;
      blocks.push_back(reader.unknownBlock(part, type, known ? "a part whose value cannot be read" : ""));
      continue;
    }
    for (const auto [key, value] : tree.members(part)) {
      const bool isDefault = tree.stringIs(key, "detail") && tree.stringIs(value, "auto");
      if (!isPartField(tree.body(key)) && !isDefault) reader.extra(block.extras, key);
    }
    blocks.push_back(std::move(block));
    for (const Tree::Index annotation : tree.elements(tree.find(part, "annotations"))) {
      Block citation;
      citation.kind = BlockKind::Citation;
      citation.raw = tree.raw(annotation);
      citation.type = reader.text(tree.find(annotation, "type"));
      citation.name = reader.text(tree.find(annotation, "title"));
      blocks.push_back(std::move(citation));
    }
  }
}

Problem readRoleMessage(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Message& out = reader.out;
  const Tree::Index role = tree.find(node, "role");
  const Tree::Index content = tree.find(node, "content");
  out.roleName = reader.text(role);
  if (tree.stringIs(role, "user")) {
    out.role = Role::User;
  } else if (tree.stringIs(role, "assistant")) {
    out.role = Role::Assistant;
  } else if (tree.stringIs(role, "system") || tree.stringIs(role, "developer")) {
    out.role = Role::System;
  } else {
    return "the role is none of user, assistant, system, developer";
  }
  if (content == Tree::kNone) return "content is missing";
  if (!tree.isString(content) && !tree.isArray(content)) return "content is neither a string nor a list";
  readParts(reader, content, out.blocks);
  reader.extrasOf(out.extras, node, {"type", "role", "content"});
  return std::nullopt;
}

void readReasoning(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  std::vector<TextView> texts;
  for (const std::string_view list : {"summary", "content"}) {
    for (const Tree::Index part : tree.elements(tree.find(node, list))) {
      const TextView text = reader.text(tree.find(part, "text"));
      if (text.present) texts.push_back(text);
      reader.extrasOf(reader.out.extras, part, {"type", "text"});
    }
  }
  Block& block = reader.out.blocks.emplace_back();
  block.kind = texts.empty() ? BlockKind::RedactedThinking : BlockKind::Thinking;
  block.raw = tree.raw(node);
  block.text = reader.joined(texts, "\\n\\n");
  block.id = reader.text(tree.find(node, "id"));
  block.signature = reader.text(tree.find(node, "encrypted_content"));
  reader.extrasOf(reader.out.extras, node, {"type", "id", "summary", "content", "encrypted_content"});
}

Problem readResponsesCall(Reader& reader, Tree::Index node, bool freeform) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolCall;
  block.raw = tree.raw(node);
  block.freeform = freeform;
  block.id = reader.text(tree.find(node, "call_id"));
  block.name = reader.text(tree.find(node, "name"));
  const Tree::Index input = tree.find(node, freeform ? "input" : "arguments");
  if (!block.id.present) return "a call without call_id";
  if (!block.name.present) return "a call without name";
  if (!tree.isString(input)) return "a call whose arguments are not a string";
  if (freeform) {
    block.text = reader.text(input);
  } else {
    block.input = tree.raw(input);
  }
  reader.out.blocks.push_back(std::move(block));
  reader.extrasOf(reader.out.extras, node, {"type", "call_id", "name", freeform ? "input" : "arguments"});
  return std::nullopt;
}

Problem readOutput(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolResult;
  block.raw = tree.raw(node);
  block.id = reader.text(tree.find(node, "call_id"));
  const Tree::Index output = tree.find(node, "output");
  if (!block.id.present) return "an output without call_id";
  if (!tree.isString(output) && !tree.isArray(output)) return "an output that is neither a string nor a list";
  readParts(reader, output, block.content);
  reader.out.role = Role::Tool;
  reader.out.blocks.push_back(std::move(block));
  reader.extrasOf(reader.out.extras, node, {"type", "call_id", "output"});
  return std::nullopt;
}

void readResponsesUsage(Reader& reader, Tree::Index usage) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(usage)) return;
  const std::uint64_t cached = reader.tokens(tree.find(tree.find(usage, "input_tokens_details"), "cached_tokens"));
  const std::uint64_t input = reader.tokens(tree.find(usage, "input_tokens"));
  reader.out.usage = Usage{
      .inputTokens = input >= cached ? input - cached : 0,
      .outputTokens = reader.tokens(tree.find(usage, "output_tokens")),
      .cacheReadTokens = cached,
      .cacheWriteTokens = 0,
      .reasoningTokens = reader.tokens(tree.find(tree.find(usage, "output_tokens_details"), "reasoning_tokens")),
  };
}

// A reference to another item needs no type and contains only the id.
bool isReference(const Tree& tree, Tree::Index node) {
  for (const auto [key, value] : tree.members(node)) {
    if (!tree.stringIs(key, "id") && !tree.stringIs(key, "type")) return false;
  }
  return tree.isString(tree.find(node, "id"));
}

Problem readItem(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Message& out = reader.out;
  const Tree::Index type = tree.find(node, "type");
  out.role = Role::Assistant;
  const bool typed = type != Tree::kNone && tree.kind(type) != json::Kind::Null;
  if (!typed && tree.find(node, "role") == Tree::kNone) {
    if (!isReference(tree, node)) return "an item without type and role";
    out.blocks.push_back(reader.unknownBlock(node, reader.own("item_reference")));
    return std::nullopt;
  }
  if (!typed || tree.stringIs(type, "message")) return readRoleMessage(reader, node);
  if (tree.stringIs(type, "function_call")) return readResponsesCall(reader, node, false);
  if (tree.stringIs(type, "custom_tool_call")) return readResponsesCall(reader, node, true);
  if (tree.stringIs(type, "function_call_output") || tree.stringIs(type, "custom_tool_call_output")) {
    return readOutput(reader, node);
  }
  if (tree.stringIs(type, "reasoning")) {
    readReasoning(reader, node);
    return std::nullopt;
  }
  if (!tree.isString(type)) return "the type of an item is not a string";
  if (tree.body(type).ends_with("_output") || tree.body(type).ends_with("_response")) out.role = Role::Tool;
  out.blocks.push_back(reader.unknownBlock(node, reader.text(type)));
  return std::nullopt;
}

}  // namespace

Problem readOpenaiResponses(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  const Tree::Index output = tree.find(node, "output");
  if (tree.find(node, "type") == Tree::kNone && tree.isArray(output)) {
    for (const Tree::Index item : tree.elements(output)) {
      if (const Problem problem = readItem(reader, item)) return problem;
    }
    out.role = Role::Assistant;
    out.model = reader.text(tree.find(node, "model"));
    out.stopReason = reader.text(tree.find(node, "status"));
    readResponsesUsage(reader, tree.find(node, "usage"));
    reader.extrasOf(out.extras, node, {"id", "model", "output", "usage", "status", "object", "created_at"});
    out.id = reader.text(tree.find(node, "id"));
    return std::nullopt;
  }
  out.id = reader.text(tree.find(node, "id"));
  return readItem(reader, node);
}

}  // namespace bough::message
