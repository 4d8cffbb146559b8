// Reads Anthropic's Messages API: {role, content: string | blocks}; tool results are inside user messages.
#include <algorithm>

#include "message/dialect/reader.h"

namespace bough::message {
namespace {

using json::Kind;

void readSimpleBlock(Reader& reader, Tree::Index node, std::vector<Block>& blocks);

// Adds one of the texts that a document is composed of. The part's other members are lost.
void addText(const Reader& reader, Tree::Index part, const TextView& text, Block& document,
             std::vector<TextView>& texts) {
  texts.push_back(text);
  reader.extrasOf(document.extras, part, {"type", "text"});
}

void readSource(Reader& reader, Tree::Index source, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index type = tree.find(source, "type");
  if (tree.stringIs(type, "base64")) {
    block.source = MediaSource::Base64;
    block.type = reader.text(tree.find(source, "media_type"));
    block.text = reader.text(tree.find(source, "data"));
  } else if (tree.stringIs(type, "url")) {
    block.source = MediaSource::Url;
    block.text = reader.text(tree.find(source, "url"));
  } else if (tree.stringIs(type, "file")) {
    block.source = MediaSource::FileId;
    block.text = reader.text(tree.find(source, "file_id"));
  } else if (tree.stringIs(type, "text")) {
    block.source = MediaSource::Text;
    block.type = reader.text(tree.find(source, "media_type"));
    block.text = reader.text(tree.find(source, "data"));
  } else if (tree.stringIs(type, "content")) {
    const Tree::Index content = tree.find(source, "content");
    std::vector<TextView> texts;
    if (tree.isString(content)) texts.push_back(reader.text(content));
    for (const Tree::Index part : tree.elements(content)) {
      const TextView text = reader.text(tree.find(part, "text"));
      if (text.present) addText(reader, part, text, block, texts);
      if (!text.present) readSimpleBlock(reader, part, block.content);
    }
    block.source = MediaSource::Text;
    block.text = reader.joined(texts, "\\n\\n");
    if (!block.content.empty()) block.text.present = true;
  }
  reader.extrasOf(block.extras, source, {"type", "media_type", "data", "url", "file_id", "content"});
}

void readCitations(Reader& reader, Tree::Index citations, std::vector<Block>& blocks) {
  for (const Tree::Index each : reader.tree.elements(citations)) {
    Block block;
    block.kind = BlockKind::Citation;
    block.raw = reader.tree.raw(each);
    block.type = reader.text(reader.tree.find(each, "type"));
    block.text = reader.text(reader.tree.find(each, "cited_text"));
    block.name = reader.text(reader.tree.find(each, "title"));
    blocks.push_back(std::move(block));
  }
}

void readText(Reader& reader, Tree::Index node, Block block, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  block.kind = BlockKind::Text;
  Tree::Index citations = Tree::kNone;
  for (const auto [key, value] : tree.members(node)) {
    if (tree.stringIs(key, "text")) {
      block.text = reader.text(value);
    } else if (tree.stringIs(key, "citations")) {
      citations = value;
    } else if (!tree.stringIs(key, "type")) {
      reader.extra(block.extras, key);
    }
  }
  if (!block.text.present) {
    blocks.push_back(reader.unknownBlock(node, block.type, "a text block without text"));
    return;
  }
  block.type = {};
  blocks.push_back(std::move(block));
  readCitations(reader, citations, blocks);
}

void readThinking(Reader& reader, Tree::Index node, Block block, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  const bool redacted = tree.stringIs(tree.find(node, "type"), "redacted_thinking");
  block.kind = redacted ? BlockKind::RedactedThinking : BlockKind::Thinking;
  block.text = reader.text(tree.find(node, "thinking"));
  block.signature = reader.text(tree.find(node, redacted ? "data" : "signature"));
  reader.extrasOf(block.extras, node, {"type", "thinking", "signature", "data"});
  if (!redacted && !block.text.present) {
    blocks.push_back(reader.unknownBlock(node, block.type, "a thinking block without thinking"));
    return;
  }
  block.type = {};
  blocks.push_back(std::move(block));
}

void readToolUse(Reader& reader, Tree::Index node, Block block, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  block.kind = BlockKind::ToolCall;
  for (const auto [key, value] : tree.members(node)) {
    if (tree.stringIs(key, "id")) {
      block.id = reader.text(value);
    } else if (tree.stringIs(key, "name")) {
      block.name = reader.text(value);
    } else if (tree.stringIs(key, "input")) {
      block.input = tree.raw(value);
    } else if (!tree.stringIs(key, "type")) {
      reader.extra(block.extras, key);
    }
  }
  if (!block.id.present || !block.name.present) {
    blocks.push_back(reader.unknownBlock(node, block.type, "a tool_use without id or name"));
    return;
  }
  if (block.input.empty()) block.input = "{}";
  block.type = {};
  blocks.push_back(std::move(block));
}

void readAnthropicMedia(Reader& reader, Tree::Index node, Block block, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  block.kind = tree.stringIs(tree.find(node, "type"), "image") ? BlockKind::Image : BlockKind::Document;
  const TextView type = block.type;
  block.type = {};
  for (const auto [key, value] : tree.members(node)) {
    if (tree.stringIs(key, "source")) {
      readSource(reader, value, block);
    } else if (tree.stringIs(key, "title")) {
      block.name = reader.text(value);
    } else if (!tree.stringIs(key, "type")) {
      reader.extra(block.extras, key);
    }
  }
  if (block.source == MediaSource::None || !block.text.present) {
    blocks.push_back(reader.unknownBlock(node, type, "a source that cannot be read"));
    return;
  }
  blocks.push_back(std::move(block));
}

// A search result is a document of text: its content is what the model reads.
void readSearchResult(Reader& reader, Tree::Index node, Block block, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  std::vector<TextView> texts;
  for (const Tree::Index part : tree.elements(tree.find(node, "content"))) {
    const TextView text = reader.text(tree.find(part, "text"));
    if (text.present) addText(reader, part, text, block, texts);
  }
  const TextView type = block.type;
  block.kind = BlockKind::Document;
  block.type = {};
  block.source = MediaSource::Text;
  block.name = reader.text(tree.find(node, "title"));
  block.text = reader.joined(texts, "\\n\\n");
  for (const auto [key, value] : tree.members(node)) {
    if (!tree.stringIs(key, "type") && !tree.stringIs(key, "content") && !tree.stringIs(key, "title")) {
      reader.extra(block.extras, key);
    }
  }
  if (!block.text.present) block = reader.unknownBlock(node, type, "a search result without content");
  blocks.push_back(std::move(block));
}

// Reads a block that is not a tool result.
void readSimpleBlock(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(node)) {
    blocks.push_back(reader.unknownBlock(node, {}, "a block is an object"));
    return;
  }
  const Tree::Index type = tree.find(node, "type");
  Block block;
  block.raw = tree.raw(node);
  block.type = reader.text(type);
  if (tree.stringIs(type, "text")) {
    readText(reader, node, std::move(block), blocks);
  } else if (tree.stringIs(type, "tool_use")) {
    readToolUse(reader, node, std::move(block), blocks);
  } else if (tree.stringIs(type, "thinking") || tree.stringIs(type, "redacted_thinking")) {
    readThinking(reader, node, std::move(block), blocks);
  } else if (tree.stringIs(type, "image") || tree.stringIs(type, "document")) {
    readAnthropicMedia(reader, node, std::move(block), blocks);
  } else if (tree.stringIs(type, "search_result")) {
    readSearchResult(reader, node, std::move(block), blocks);
  } else {
    blocks.push_back(reader.unknownBlock(node, block.type, tree.isString(type) ? "" : "a block without a type"));
  }
}

void readToolResult(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolResult;
  block.raw = tree.raw(node);
  for (const auto [key, value] : tree.members(node)) {
    if (tree.stringIs(key, "tool_use_id")) {
      block.id = reader.text(value);
    } else if (tree.stringIs(key, "is_error")) {
      block.isError = tree.kind(value) == Kind::True;
    } else if (tree.stringIs(key, "content")) {
      if (tree.isString(value)) {
        Block& text = block.content.emplace_back();
        text.kind = BlockKind::Text;
        text.raw = tree.raw(value);
        text.text = reader.text(value);
      }
      for (const Tree::Index each : tree.elements(value)) readSimpleBlock(reader, each, block.content);
    } else if (!tree.stringIs(key, "type")) {
      reader.extra(block.extras, key);
    }
  }
  if (!block.id.present) block = reader.unknownBlock(node, {}, "a tool_result without tool_use_id");
  blocks.push_back(std::move(block));
}

void readAnthropicUsage(Reader& reader, Tree::Index usage) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(usage)) return;
  const std::uint64_t written = reader.tokens(tree.find(usage, "cache_creation_input_tokens"));
  const Tree::Index kinds = tree.find(usage, "cache_creation");
  const std::uint64_t hour = tree.isObject(kinds) ? reader.tokens(tree.find(kinds, "ephemeral_1h_input_tokens")) : 0;
  reader.out.usage = Usage{
      .inputTokens = reader.tokens(tree.find(usage, "input_tokens")),
      .outputTokens = reader.tokens(tree.find(usage, "output_tokens")),
      .cacheReadTokens = reader.tokens(tree.find(usage, "cache_read_input_tokens")),
      .cacheWriteTokens = written,
      .reasoningTokens = 0,
      .cacheWriteHourTokens = std::min(hour, written),
  };
}

}  // namespace

Problem readAnthropicContent(Reader& reader, Tree::Index content) {
  const Tree& tree = reader.tree;
  if (tree.isString(content)) {
    Block& block = reader.out.blocks.emplace_back();
    block.kind = BlockKind::Text;
    block.raw = tree.raw(content);
    block.text = reader.text(content);
    return std::nullopt;
  }
  if (!tree.isArray(content)) return "content is neither a string nor a list";
  for (const Tree::Index each : tree.elements(content)) {
    if (tree.stringIs(tree.find(each, "type"), "tool_result")) {
      readToolResult(reader, each, reader.out.blocks);
    } else {
      readSimpleBlock(reader, each, reader.out.blocks);
    }
  }
  return std::nullopt;
}

Problem readAnthropic(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  Tree::Index content = Tree::kNone;
  Tree::Index role = Tree::kNone;
  for (const auto [key, value] : tree.members(node)) {
    if (tree.stringIs(key, "role")) {
      role = value;
    } else if (tree.stringIs(key, "content")) {
      content = value;
    } else if (tree.stringIs(key, "id")) {
      out.id = reader.text(value);
    } else if (tree.stringIs(key, "model")) {
      out.model = reader.text(value);
    } else if (tree.stringIs(key, "stop_reason")) {
      out.stopReason = reader.text(value);
    } else if (tree.stringIs(key, "usage")) {
      readAnthropicUsage(reader, value);
    } else if (!tree.stringIs(key, "type")) {
      reader.extra(out.extras, key);
    }
  }
  out.roleName = reader.text(role);
  if (tree.stringIs(role, "user")) {
    out.role = Role::User;
  } else if (tree.stringIs(role, "assistant")) {
    out.role = Role::Assistant;
  } else if (tree.stringIs(role, "system")) {
    out.role = Role::System;
  } else {
    return "the role is none of user, assistant, system";
  }
  if (content == Tree::kNone) return "content is missing";
  return readAnthropicContent(reader, content);
}

}  // namespace bough::message
