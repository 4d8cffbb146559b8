// Reads the normalized form itself, as docs/messages.md describes it.
#include <algorithm>

#include "message/dialect/reader.h"

namespace bough::message {
namespace {

using json::Kind;

bool readBoughMedia(Reader& reader, Tree::Index node, Block& block) {
  struct Place {
    std::string_view member;
    MediaSource source;
  };
  static constexpr Place kPlaces[] = {{"data", MediaSource::Base64},
                                      {"url", MediaSource::Url},
                                      {"fileId", MediaSource::FileId},
                                      {"text", MediaSource::Text}};
  const Tree& tree = reader.tree;
  block.type = reader.text(tree.find(node, "mediaType"));
  for (const Place& place : kPlaces) {
    block.text = reader.text(tree.find(node, place.member));
    block.source = place.source;
    if (block.text.present) return true;
  }
  return false;
}

bool readBoughCall(Reader& reader, Tree::Index node, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index input = tree.find(node, "input");
  const TextView text = reader.text(tree.find(node, "text"));
  block.freeform = text.present;
  if (block.freeform) {
    block.text = text;
  } else {
    block.input = input == Tree::kNone ? "{}" : tree.raw(input);
  }
  return block.name.present;
}

Block readBlock(Reader& reader, Tree::Index node);

bool readByType(Reader& reader, Tree::Index node, std::string_view type, Block& block) {
  const Tree& tree = reader.tree;
  block.id = reader.text(tree.find(node, "id"));
  block.name = reader.text(tree.find(node, "name"));
  block.signature = reader.text(tree.find(node, "signature"));
  if (type == "image" || type == "document") {
    block.kind = type == "image" ? BlockKind::Image : BlockKind::Document;
    return readBoughMedia(reader, node, block);
  }
  if (type == "tool_call") {
    block.kind = BlockKind::ToolCall;
    block.idMissing = !block.id.present;
    return readBoughCall(reader, node, block);
  }
  if (type == "redacted_thinking") {
    block.kind = BlockKind::RedactedThinking;
    return true;
  }
  block.kind = type == "thinking" ? BlockKind::Thinking : type == "refusal" ? BlockKind::Refusal : BlockKind::Text;
  block.text = reader.text(tree.find(node, "text"));
  return block.text.present;
}

Block readBlock(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  const TextView type = reader.text(tree.find(node, "type"));
  Block block;
  block.raw = tree.raw(node);
  const std::string_view name = type.escaped;
  if (name == "citation") {
    block.kind = BlockKind::Citation;
    block.type = type;
    return block;
  }
  const bool known = name == "text" || name == "thinking" || name == "redacted_thinking" || name == "refusal" ||
                     name == "image" || name == "document" || name == "tool_call";
  if (!known) return reader.unknownBlock(node, type, type.present ? "" : "a block without a type");
  if (!readByType(reader, node, name, block))
    return reader.unknownBlock(node, type, "a block whose value cannot be read");
  reader.extrasOf(block.extras, node,
                  {"type", "id", "name", "signature", "text", "input", "mediaType", "data", "url", "fileId"});
  return block;
}

Block readBoughResult(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolResult;
  block.raw = tree.raw(node);
  block.id = reader.text(tree.find(node, "id"));
  block.idMissing = !block.id.present;
  block.name = reader.text(tree.find(node, "name"));
  const Tree::Index failed = tree.find(node, "isError");
  block.isError = failed != Tree::kNone && tree.kind(failed) == Kind::True;
  const Tree::Index content = tree.find(node, "content");
  if (tree.isString(content)) {
    Block& text = block.content.emplace_back();
    text.kind = BlockKind::Text;
    text.raw = tree.raw(content);
    text.text = reader.text(content);
  }
  for (const Tree::Index each : tree.elements(content)) block.content.push_back(readBlock(reader, each));
  reader.extrasOf(block.extras, node, {"type", "id", "name", "isError", "content"});
  return block;
}

}  // namespace

Problem readBough(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  const Tree::Index role = tree.find(node, "role");
  const Tree::Index content = tree.find(node, "content");
  out.roleName = reader.text(role);
  out.id = reader.text(tree.find(node, "id"));
  out.model = reader.text(tree.find(node, "model"));
  out.stopReason = reader.text(tree.find(node, "stopReason"));
  reader.extrasOf(out.extras, node, {"role", "content", "id", "model", "stopReason", "usage"});
  const Tree::Index usage = tree.find(node, "usage");
  if (tree.isObject(usage)) {
    const std::uint64_t written = reader.tokens(tree.find(usage, "cacheWriteTokens"));
    out.usage = Usage{
        .inputTokens = reader.tokens(tree.find(usage, "inputTokens")),
        .outputTokens = reader.tokens(tree.find(usage, "outputTokens")),
        .cacheReadTokens = reader.tokens(tree.find(usage, "cacheReadTokens")),
        .cacheWriteTokens = written,
        .reasoningTokens = reader.tokens(tree.find(usage, "reasoningTokens")),
        .cacheWriteHourTokens = std::min(reader.tokens(tree.find(usage, "cacheWriteHourTokens")), written),
    };
  }
  if (tree.stringIs(role, "user")) {
    out.role = Role::User;
  } else if (tree.stringIs(role, "assistant")) {
    out.role = Role::Assistant;
  } else if (tree.stringIs(role, "system")) {
    out.role = Role::System;
  } else if (tree.stringIs(role, "tool")) {
    out.role = Role::Tool;
  } else {
    return "the role is none of system, user, assistant, tool";
  }
  if (tree.isString(content)) return readAnthropicContent(reader, content);
  if (!tree.isArray(content)) return "content is neither a string nor a list";
  for (const Tree::Index each : tree.elements(content)) {
    const bool result = tree.stringIs(tree.find(each, "type"), "tool_result");
    out.blocks.push_back(result ? readBoughResult(reader, each) : readBlock(reader, each));
  }
  return std::nullopt;
}

}  // namespace bough::message
