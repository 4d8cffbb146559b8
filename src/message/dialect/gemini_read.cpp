// Reads Gemini's generateContent: {role: user|model, parts}, calls and responses are parts, often without ids.
#include <array>

#include "base/json_write.h"
#include "message/dialect/reader.h"

namespace bough::message {
namespace {

using json::Kind;

// The API takes both spellings of every field.
Tree::Index findEither(const Tree& tree, Tree::Index object, std::string_view camel, std::string_view snake) {
  const Tree::Index found = tree.find(object, camel);
  return found != Tree::kNone ? found : tree.find(object, snake);
}

void setMediaKind(Block& block) {
  block.kind = block.type.escaped.starts_with("image/") || block.type.escaped.starts_with("image\\/")
                   ? BlockKind::Image
                   : BlockKind::Document;
}

bool readInlineData(Reader& reader, Tree::Index data, Block& block) {
  const Tree& tree = reader.tree;
  block.source = MediaSource::Base64;
  block.type = reader.text(findEither(tree, data, "mimeType", "mime_type"));
  block.text = reader.text(tree.find(data, "data"));
  block.name = reader.text(findEither(tree, data, "displayName", "display_name"));
  setMediaKind(block);
  return block.text.present && block.type.present;
}

bool readFileData(Reader& reader, Tree::Index data, Block& block) {
  const Tree& tree = reader.tree;
  block.type = reader.text(findEither(tree, data, "mimeType", "mime_type"));
  block.text = reader.text(findEither(tree, data, "fileUri", "file_uri"));
  block.name = reader.text(findEither(tree, data, "displayName", "display_name"));
  // Files of the File API are readable by their own provider only.
  const std::string address = block.text.decode();
  const bool own = address.starts_with("gs://") || address.contains("googleapis.com/");
  block.source = own || !address.starts_with("http") ? MediaSource::FileId : MediaSource::Url;
  setMediaKind(block);
  return block.text.present;
}

bool readCall(Reader& reader, Tree::Index call, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index args = tree.find(call, "args");
  block.kind = BlockKind::ToolCall;
  block.name = reader.text(tree.find(call, "name"));
  block.id = reader.text(tree.find(call, "id"));
  block.idMissing = !block.id.present;
  block.input = args == Tree::kNone || tree.kind(args) == Kind::Null ? "{}" : tree.raw(args);
  return block.name.present && block.input.starts_with('{');
}

// `output` is the result, `error` the failure; without either the whole object is the output.
void readResponseValue(Reader& reader, Tree::Index response, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index error = tree.find(response, "error");
  const Tree::Index output = tree.find(response, "output");
  block.isError = error != Tree::kNone && output == Tree::kNone;
  const Tree::Index value = block.isError ? error : output != Tree::kNone ? output : response;
  Block& text = block.content.emplace_back();
  text.kind = BlockKind::Text;
  text.raw = tree.raw(value);
  text.text = tree.isString(value) ? reader.text(value) : reader.own(tree.raw(value));
}

bool readResponse(Reader& reader, Tree::Index response, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index value = tree.find(response, "response");
  block.kind = BlockKind::ToolResult;
  block.name = reader.text(tree.find(response, "name"));
  block.id = reader.text(tree.find(response, "id"));
  block.idMissing = !block.id.present;
  if (!block.name.present || !tree.isObject(value)) return false;
  readResponseValue(reader, value, block);
  for (const Tree::Index part : tree.elements(tree.find(response, "parts"))) {
    Block media;
    media.raw = tree.raw(part);
    const Tree::Index inlineData = findEither(tree, part, "inlineData", "inline_data");
    const Tree::Index fileData = findEither(tree, part, "fileData", "file_data");
    const bool readable =
        inlineData != Tree::kNone ? readInlineData(reader, inlineData, media) : readFileData(reader, fileData, media);
    block.content.push_back(readable ? std::move(media) : reader.unknown(part, {}, "a part that cannot be read"));
  }
  return true;
}

struct PartField {
  std::string_view camel;
  std::string_view snake;
};
constexpr std::array<PartField, 8> kOtherParts = {{{"executableCode", "executable_code"},
                                                   {"codeExecutionResult", "code_execution_result"},
                                                   {"toolCall", "tool_call"},
                                                   {"toolResponse", "tool_response"},
                                                   {"videoMetadata", "video_metadata"},
                                                   {"mediaResolution", "media_resolution"},
                                                   {"partMetadata", "part_metadata"},
                                                   {"mediaProcessing", "media_processing"}}};

Block readPart(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(node)) return reader.unknown(node, {}, "a part is an object");
  Block block;
  block.raw = tree.raw(node);
  bool thought = false;
  bool readable = false;
  std::string_view what;
  for (const auto [key, value] : tree.members(node)) {
    const std::string_view name = tree.body(key);
    if (name == "text") {
      what = name;
      block.kind = BlockKind::Text;
      block.text = reader.text(value);
      readable = block.text.present;
    } else if (name == "functionCall" || name == "function_call") {
      what = name;
      readable = readCall(reader, value, block);
    } else if (name == "functionResponse" || name == "function_response") {
      what = name;
      readable = readResponse(reader, value, block);
    } else if (name == "inlineData" || name == "inline_data") {
      what = name;
      readable = readInlineData(reader, value, block);
    } else if (name == "fileData" || name == "file_data") {
      what = name;
      readable = readFileData(reader, value, block);
    } else if (name == "thought") {
      thought = tree.kind(value) == Kind::True;
    } else if (name == "thoughtSignature" || name == "thought_signature") {
      block.signature = reader.text(value);
    } else {
      reader.extra(block.extras, key);
    }
  }
  if (what.empty()) {
    for (const PartField& field : kOtherParts) {
      if (findEither(tree, node, field.camel, field.snake) != Tree::kNone) {
        return reader.unknown(node, reader.own(field.camel));
      }
    }
    return reader.unknown(node, {}, block.extras.empty() ? "a part without data" : "");
  }
  if (!readable) return reader.unknown(node, reader.own(what), "a part whose value cannot be read");
  if (thought && block.kind == BlockKind::Text) block.kind = BlockKind::Thinking;
  return block;
}

Problem readCandidate(Reader& reader, Tree::Index response) {
  const Tree& tree = reader.tree;
  Message& out = reader.out;
  Tree::Index first = Tree::kNone;
  for (const Tree::Index candidate : tree.elements(tree.find(response, "candidates"))) {
    first = candidate;
    break;
  }
  const Tree::Index content = tree.find(first, "content");
  if (tree.isObject(content)) {
    if (const Problem problem = readGeminiContent(reader, content)) return problem;
  }
  out.role = Role::Assistant;
  out.id = reader.text(tree.find(response, "responseId"));
  out.model = reader.text(tree.find(response, "modelVersion"));
  out.stopReason = reader.text(tree.find(first, "finishReason"));
  const Tree::Index usage = tree.find(response, "usageMetadata");
  if (!tree.isObject(usage)) return std::nullopt;
  const std::uint64_t cached = reader.unsignedValue(tree.find(usage, "cachedContentTokenCount"));
  const std::uint64_t prompt = reader.unsignedValue(tree.find(usage, "promptTokenCount"));
  const std::uint64_t thoughts = reader.unsignedValue(tree.find(usage, "thoughtsTokenCount"));
  out.usage = Usage{
      .inputTokens = prompt >= cached ? prompt - cached : 0,
      .outputTokens = reader.unsignedValue(tree.find(usage, "candidatesTokenCount")) + thoughts,
      .cacheReadTokens = cached,
      .cacheWriteTokens = 0,
      .reasoningTokens = thoughts,
  };
  return std::nullopt;
}

}  // namespace

Problem readGeminiContent(Reader& reader, Tree::Index content) {
  const Tree& tree = reader.tree;
  if (tree.isString(content)) return readAnthropicContent(reader, content);
  const Tree::Index parts = tree.find(content, "parts");
  if (tree.isString(tree.find(content, "text"))) {
    reader.out.blocks.push_back(readPart(reader, content));
    return std::nullopt;
  }
  if (parts != Tree::kNone && !tree.isArray(parts)) return "parts is not a list";
  if (parts == Tree::kNone && !tree.isObject(content)) return "a content is an object";
  for (const Tree::Index part : tree.elements(parts)) reader.out.blocks.push_back(readPart(reader, part));
  return std::nullopt;
}

Problem readGemini(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  if (tree.isArray(tree.find(node, "candidates"))) return readCandidate(reader, node);
  const Tree::Index role = tree.find(node, "role");
  out.roleName = reader.text(role);
  if (role == Tree::kNone || tree.stringIs(role, "user") || tree.stringIs(role, "function")) {
    out.role = Role::User;
  } else if (tree.stringIs(role, "model")) {
    out.role = Role::Assistant;
  } else if (tree.stringIs(role, "system")) {
    out.role = Role::System;
  } else {
    return "the role is neither user nor model";
  }
  if (tree.find(node, "parts") == Tree::kNone) return "parts is missing";
  for (const auto [key, value] : tree.members(node)) {
    if (tree.body(key) != "role" && tree.body(key) != "parts") reader.extra(out.extras, key);
  }
  return readGeminiContent(reader, node);
}

}  // namespace bough::message
