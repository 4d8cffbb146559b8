// Reads OpenAI's Chat Completions: tool calls are next to the content, and each tool result is a separate message.
#include "message/dialect/reader.h"

namespace bough::message {
namespace {

using json::Kind;

void readChatPart(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  const Tree::Index type = tree.find(node, "type");
  const TextView typeName = reader.text(type);
  Block block;
  block.raw = tree.raw(node);
  Tree::Index value = Tree::kNone;
  for (const auto [key, member] : tree.members(node)) {
    if (tree.stringIs(key, "type")) continue;
    if (typeName.present && tree.stringIs(key, typeName.escaped)) {
      value = member;
    } else {
      reader.extra(block.extras, key);
    }
  }
  bool readable = false;
  if (tree.stringIs(type, "text")) {
    block.kind = BlockKind::Text;
    block.text = reader.text(value);
    readable = block.text.present;
  } else if (tree.stringIs(type, "refusal")) {
    block.kind = BlockKind::Refusal;
    block.text = reader.text(value);
    readable = block.text.present;
  } else if (tree.stringIs(type, "image_url")) {
    block.kind = BlockKind::Image;
    readable = reader.url(reader.text(tree.find(value, "url")), block);
    const bool isDefault = tree.stringIs(tree.find(value, "detail"), "auto");
    reader.extrasOf(block.extras, value, {"url", isDefault ? "detail" : "url"});
  } else if (tree.stringIs(type, "file")) {
    block.kind = BlockKind::Document;
    block.name = reader.text(tree.find(value, "filename"));
    const TextView data = reader.text(tree.find(value, "file_data"));
    const TextView id = reader.text(tree.find(value, "file_id"));
    readable = reader.fileData(data, block);
    reader.extrasOf(block.extras, value, {"filename", "file_data", "file_id"});
    if (!readable && id.present) {
      block.source = MediaSource::FileId;
      block.text = id;
      readable = true;
    }
  } else if (tree.stringIs(type, "input_audio")) {
    const TextView format = reader.text(tree.find(value, "format"));
    block.kind = BlockKind::Document;
    block.source = MediaSource::Base64;
    block.text = reader.text(tree.find(value, "data"));
    reader.extrasOf(block.extras, value, {"format", "data"});
    block.type = reader.own(format.escaped == "mp3" ? "audio/mp3" : "audio/wav");
    readable = block.text.present && format.present;
  } else {
    blocks.push_back(reader.unknownBlock(node, typeName, typeName.present ? "" : "a part without a type"));
    return;
  }
  if (!readable) block = reader.unknownBlock(node, typeName, "a part whose value cannot be read");
  blocks.push_back(std::move(block));
}

// Returns false when the content is neither a string, a list nor null.
bool readContent(Reader& reader, Tree::Index content, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  if (content == Tree::kNone || tree.kind(content) == Kind::Null) return true;
  if (tree.isString(content)) {
    Block& block = blocks.emplace_back();
    block.kind = BlockKind::Text;
    block.raw = tree.raw(content);
    block.text = reader.text(content);
    return true;
  }
  if (!tree.isArray(content)) return false;
  for (const Tree::Index part : tree.elements(content)) readChatPart(reader, part, blocks);
  return true;
}

void readToolCall(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolCall;
  block.raw = tree.raw(node);
  block.id = reader.text(tree.find(node, "id"));
  block.freeform = tree.stringIs(tree.find(node, "type"), "custom");
  const Tree::Index function = tree.find(node, block.freeform ? "custom" : "function");
  block.name = reader.text(tree.find(function, "name"));
  const Tree::Index input = tree.find(function, block.freeform ? "input" : "arguments");
  if (block.freeform) {
    block.text = reader.text(input);
  } else if (tree.isString(input)) {
    block.input = tree.raw(input);
  }
  reader.extrasOf(block.extras, node, {"id", "type", "index", "function", "custom"});
  reader.extrasOf(block.extras, function, {"name", "arguments", "input"});
  const bool readable = block.id.present && block.name.present && (block.text.present || !block.input.empty());
  if (!readable) block = reader.unknownBlock(node, {}, "a tool call without id, name or arguments");
  blocks.push_back(std::move(block));
}

// Reads a call in the form that preceded `tool_calls`, which has no id.
void readFunctionCall(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolCall;
  block.raw = tree.raw(node);
  block.idMissing = true;
  block.name = reader.text(tree.find(node, "name"));
  const Tree::Index arguments = tree.find(node, "arguments");
  if (tree.isString(arguments)) block.input = tree.raw(arguments);
  reader.extrasOf(block.extras, node, {"name", "arguments"});
  if (!block.name.present || block.input.empty()) block = reader.unknownBlock(node, {}, "a function_call without name");
  blocks.push_back(std::move(block));
}

void readChatUsage(Reader& reader, Tree::Index usage) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(usage)) return;
  const Tree::Index details = tree.find(usage, "prompt_tokens_details");
  const std::uint64_t cached = reader.tokens(tree.find(details, "cached_tokens"));
  const std::uint64_t prompt = reader.tokens(tree.find(usage, "prompt_tokens"));
  reader.out.usage = Usage{
      .inputTokens = prompt >= cached ? prompt - cached : 0,
      .outputTokens = reader.tokens(tree.find(usage, "completion_tokens")),
      .cacheReadTokens = cached,
      .cacheWriteTokens = 0,
      .reasoningTokens = reader.tokens(tree.find(tree.find(usage, "completion_tokens_details"), "reasoning_tokens")),
  };
}

// Reads spoken output: its words if the answer has them, otherwise only an id that OpenAI understands.
void readAudio(Reader& reader, Tree::Index node, std::vector<Block>& blocks) {
  const Tree& tree = reader.tree;
  const TextView words = reader.text(tree.find(node, "transcript"));
  Block block = reader.unknownBlock(node, reader.own("audio"));
  block.id = reader.text(tree.find(node, "id"));
  reader.extrasOf(block.extras, node, {"id", "transcript"});
  if (!words.empty()) {
    block.kind = BlockKind::Text;
    block.text = words;
    block.extras.assign({"audio"});
  }
  blocks.push_back(std::move(block));
}

bool isSpoken(const Tree& tree, Tree::Index message) {
  return tree.isString(tree.find(tree.find(message, "audio"), "id"));
}

void readAssistant(Reader& reader, Tree::Index node, Tree::Index content) {
  const Tree& tree = reader.tree;
  Message& out = reader.out;
  for (const std::string_view name : {"reasoning_content", "reasoning"}) {
    const Tree::Index reasoning = tree.find(node, name);
    if (!tree.isString(reasoning)) continue;
    Block& block = out.blocks.emplace_back();
    block.kind = BlockKind::Thinking;
    block.raw = tree.raw(reasoning);
    block.text = reader.text(reasoning);
  }
  readContent(reader, content, out.blocks);
  const Tree::Index refusal = tree.find(node, "refusal");
  if (tree.isString(refusal)) {
    Block& block = out.blocks.emplace_back();
    block.kind = BlockKind::Refusal;
    block.raw = tree.raw(refusal);
    block.text = reader.text(refusal);
  }
  for (const Tree::Index call : tree.elements(tree.find(node, "tool_calls"))) readToolCall(reader, call, out.blocks);
  const Tree::Index call = tree.find(node, "function_call");
  if (tree.isObject(call)) readFunctionCall(reader, call, out.blocks);
  if (isSpoken(tree, node)) readAudio(reader, tree.find(node, "audio"), out.blocks);
}

void readTool(Reader& reader, Tree::Index node, Tree::Index content) {
  const Tree& tree = reader.tree;
  Block block;
  block.kind = BlockKind::ToolResult;
  block.raw = tree.raw(node);
  block.id = reader.text(tree.find(node, "tool_call_id"));
  block.name = reader.text(tree.find(node, "name"));
  block.idMissing = !block.id.present;
  readContent(reader, content, block.content);
  reader.out.blocks.push_back(std::move(block));
}

Problem readChoice(const Tree& tree, Tree::Index response, Message& out) {
  Reader reader(tree, out);
  Tree::Index first = Tree::kNone;
  for (const Tree::Index choice : tree.elements(tree.find(response, "choices"))) {
    first = choice;
    break;
  }
  const Tree::Index message = tree.find(first, "message");
  // An answer without a choice (only usage, or a filter's verdict on the prompt) has no content.
  const bool isEmpty = first == Tree::kNone && tree.isArray(tree.find(response, "choices"));
  if (!isEmpty && !tree.isObject(message)) return "a completion without a message";
  out.role = Role::Assistant;
  const Problem problem = isEmpty ? std::nullopt : readOpenaiChat(tree, message, out);
  out.id = reader.text(tree.find(response, "id"));
  out.model = reader.text(tree.find(response, "model"));
  out.stopReason = reader.text(tree.find(first, "finish_reason"));
  readChatUsage(reader, tree.find(response, "usage"));
  // Only the first choice is the answer; the others are reported.
  if (!isEmpty && tree.next(first) < tree.next(tree.find(response, "choices"))) out.extras.emplace_back("choices");
  reader.extrasOf(out.extras, first, {"message", "finish_reason", "index"});
  reader.extrasOf(out.extras, response, {"choices", "id", "model", "usage", "object", "created"});
  return problem;
}

}  // namespace

Problem readOpenaiChat(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  const Tree::Index role = tree.find(node, "role");
  const Tree::Index content = tree.find(node, "content");
  if (role == Tree::kNone && tree.find(node, "choices") != Tree::kNone) return readChoice(tree, node, out);
  out.roleName = reader.text(role);
  if (content != Tree::kNone && !tree.isString(content) && !tree.isArray(content) && tree.kind(content) != Kind::Null) {
    return "content is neither a string nor a list";
  }
  for (const auto [key, value] : tree.members(node)) {
    const std::string_view name = tree.body(key);
    if (name == "role" || name == "content" || name == "refusal" || name == "tool_calls" || name == "tool_call_id" ||
        name == "function_call" || name == "reasoning_content" || name == "reasoning") {
      continue;
    }
    const bool spoken = name == "audio" && tree.stringIs(role, "assistant") && isSpoken(tree, node);
    if (!spoken) reader.extra(out.extras, key);
  }
  if (tree.stringIs(role, "assistant")) {
    out.role = Role::Assistant;
    const Tree::Index calls = tree.find(node, "tool_calls");
    if (calls != Tree::kNone && !tree.isArray(calls) && tree.kind(calls) != Kind::Null) {
      return "tool_calls is not a list";
    }
    readAssistant(reader, node, content);
    return std::nullopt;
  }
  if (content == Tree::kNone) return "content is missing";
  if (tree.stringIs(role, "tool") || tree.stringIs(role, "function")) {
    out.role = Role::Tool;
    if (tree.stringIs(role, "tool") && !tree.isString(tree.find(node, "tool_call_id"))) {
      return "a tool message without tool_call_id";
    }
    readTool(reader, node, content);
    return std::nullopt;
  }
  if (tree.stringIs(role, "system") || tree.stringIs(role, "developer")) {
    out.role = Role::System;
  } else if (tree.stringIs(role, "user")) {
    out.role = Role::User;
  } else {
    return "the role is none of system, developer, user, assistant, tool, function";
  }
  readContent(reader, content, out.blocks);
  return std::nullopt;
}

}  // namespace bough::message
