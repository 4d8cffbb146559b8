// Reads Gemini's generateContent: {role: user|model, parts}. Calls and responses are parts, often without ids.
#include <array>

#include "base/json/json_write.h"
#include "message/dialect/reader.h"

namespace bough::message {
namespace {

using json::Kind;

// The API accepts both spellings of every field.
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
  reader.extrasOf(block.extras, data, {"mimeType", "mime_type", "data", "displayName", "display_name"});
  return block.text.present && block.type.present;
}

bool readFileData(Reader& reader, Tree::Index data, Block& block) {
  const Tree& tree = reader.tree;
  block.type = reader.text(findEither(tree, data, "mimeType", "mime_type"));
  block.text = reader.text(findEither(tree, data, "fileUri", "file_uri"));
  block.name = reader.text(findEither(tree, data, "displayName", "display_name"));
  // Files of the File API are readable only by their own provider.
  const std::string address = block.text.decode();
  const bool own = address.starts_with("gs://") || address.contains("googleapis.com/");
  block.source = own || !address.starts_with("http") ? MediaSource::FileId : MediaSource::Url;
  setMediaKind(block);
  reader.extrasOf(block.extras, data, {"mimeType", "mime_type", "fileUri", "file_uri", "displayName", "display_name"});
  return block.text.present;
}

bool readGeminiCall(Reader& reader, Tree::Index call, Block& block) {
  const Tree& tree = reader.tree;
  const Tree::Index args = tree.find(call, "args");
  block.kind = BlockKind::ToolCall;
  block.name = reader.text(tree.find(call, "name"));
  block.id = reader.text(tree.find(call, "id"));
  block.idMissing = !block.id.present;
  reader.extrasOf(block.extras, call, {"name", "id", "args"});
  block.input = args == Tree::kNone || tree.kind(args) == Kind::Null ? "{}" : tree.raw(args);
  return block.name.present && block.input.starts_with('{');
}

// Returns whether a response says that the tool failed. Programs write `"error":null` or `"error":""` next to the
// output of a tool that succeeded. An empty error that is the only member means that the tool failed without a message.
bool saysError(const Tree& tree, Tree::Index error, bool isAlone) {
  if (error == Tree::kNone) return false;
  const Kind kind = tree.kind(error);
  if (kind == Kind::String && tree.body(error).empty()) return isAlone;
  return kind != Kind::Null && kind != Kind::False;
}

// A single member `output` is the result, and a single member `error` is the failure. An object with more members is
// the result as a whole.
void readResponseValue(Reader& reader, Tree::Index response, Block& block) {
  const Tree& tree = reader.tree;
  std::size_t members = 0;
  for ([[maybe_unused]] const auto member : tree.members(response)) ++members;
  const Tree::Index error = tree.find(response, "error");
  const Tree::Index output = tree.find(response, "output");
  block.isError = output == Tree::kNone && saysError(tree, error, members == 1);
  const Tree::Index only = block.isError ? error : output;
  const Tree::Index value = members == 1 && only != Tree::kNone ? only : response;
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
  reader.extrasOf(block.extras, response, {"name", "id", "response", "parts"});
  for (const Tree::Index part : tree.elements(tree.find(response, "parts"))) {
    Block media;
    media.raw = tree.raw(part);
    const Tree::Index inlineData = findEither(tree, part, "inlineData", "inline_data");
    const Tree::Index fileData = findEither(tree, part, "fileData", "file_data");
    const bool readable =
        inlineData != Tree::kNone ? readInlineData(reader, inlineData, media) : readFileData(reader, fileData, media);
    reader.extrasOf(media.extras, part, {"inlineData", "inline_data", "fileData", "file_data"});
    block.content.push_back(readable ? std::move(media) : reader.unknownBlock(part, {}, "a part that cannot be read"));
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

// The fields with data, the most important first. A part has one of them; when it has two, the first counts and the
// other is reported.
constexpr std::array<PartField, 5> kDataFields = {{{"functionCall", "function_call"},
                                                   {"functionResponse", "function_response"},
                                                   {"text", "text"},
                                                   {"inlineData", "inline_data"},
                                                   {"fileData", "file_data"}}};

// Returns the index in kDataFields of the field that counts; the size of kDataFields when there is none.
std::size_t dataField(const Tree& tree, Tree::Index part) {
  std::size_t field = 0;
  while (field < kDataFields.size() &&
         findEither(tree, part, kDataFields[field].camel, kDataFields[field].snake) == Tree::kNone) {
    ++field;
  }
  return field;
}

bool readData(Reader& reader, std::size_t field, Tree::Index value, Block& block) {
  switch (field) {
    case 0: return readGeminiCall(reader, value, block);
    case 1: return readResponse(reader, value, block);
    case 2:
      block.kind = BlockKind::Text;
      block.text = reader.text(value);
      return block.text.present;
    case 3: return readInlineData(reader, value, block);
    default: return readFileData(reader, value, block);
  }
}

Block readGeminiPart(Reader& reader, Tree::Index node) {
  const Tree& tree = reader.tree;
  if (!tree.isObject(node)) return reader.unknownBlock(node, {}, "a part is an object");
  Block block;
  block.raw = tree.raw(node);
  const std::size_t field = dataField(tree, node);
  if (field == kDataFields.size()) {
    for (const PartField& other : kOtherParts) {
      if (findEither(tree, node, other.camel, other.snake) != Tree::kNone) {
        return reader.unknownBlock(node, reader.own(other.camel));
      }
    }
    reader.extrasOf(block.extras, node, {"thought", "thoughtSignature", "thought_signature"});
    return reader.unknownBlock(node, {}, block.extras.empty() ? "a part without data" : "");
  }
  const PartField& data = kDataFields[field];
  reader.extrasOf(block.extras, node, {data.camel, data.snake, "thought", "thoughtSignature", "thought_signature"});
  if (!readData(reader, field, findEither(tree, node, data.camel, data.snake), block)) {
    return reader.unknownBlock(node, reader.own(data.camel), "a part whose value cannot be read");
  }
  block.signature = reader.text(findEither(tree, node, "thoughtSignature", "thought_signature"));
  const Tree::Index thought = tree.find(node, "thought");
  const bool isThought = thought != Tree::kNone && tree.kind(thought) == Kind::True;
  if (isThought && block.kind == BlockKind::Text) block.kind = BlockKind::Thinking;
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
    reader.extrasOf(out.extras, content, {"role", "parts"});
  }
  out.role = Role::Assistant;
  out.id = reader.text(tree.find(response, "responseId"));
  out.model = reader.text(tree.find(response, "modelVersion"));
  out.stopReason = first != Tree::kNone ? reader.text(tree.find(first, "finishReason"))
                                        : reader.text(tree.find(tree.find(response, "promptFeedback"), "blockReason"));
  // Only the first candidate is the answer; the others are reported.
  const bool several = first != Tree::kNone && tree.next(first) < tree.next(tree.find(response, "candidates"));
  if (several) out.extras.emplace_back("candidates");
  reader.extrasOf(out.extras, first, {"content", "finishReason", "index"});
  reader.extrasOf(out.extras, response, {"candidates", "responseId", "modelVersion", "usageMetadata"});
  const Tree::Index usage = tree.find(response, "usageMetadata");
  if (!tree.isObject(usage)) return std::nullopt;
  const std::uint64_t cached = reader.tokens(tree.find(usage, "cachedContentTokenCount"));
  const std::uint64_t prompt = reader.tokens(tree.find(usage, "promptTokenCount"));
  const std::uint64_t thoughts = reader.tokens(tree.find(usage, "thoughtsTokenCount"));
  out.usage = Usage{
      .inputTokens = prompt >= cached ? prompt - cached : 0,
      .outputTokens = reader.tokens(tree.find(usage, "candidatesTokenCount")) + thoughts,
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
    reader.out.blocks.push_back(readGeminiPart(reader, content));
    return std::nullopt;
  }
  if (parts != Tree::kNone && !tree.isArray(parts)) return "parts is not a list";
  if (parts == Tree::kNone && !tree.isObject(content)) return "a content is an object";
  for (const Tree::Index part : tree.elements(parts)) reader.out.blocks.push_back(readGeminiPart(reader, part));
  return std::nullopt;
}

Problem readGemini(const Tree& tree, Tree::Index node, Message& out) {
  Reader reader(tree, out);
  // The answer to a blocked prompt has no candidates.
  const bool answer = tree.isArray(tree.find(node, "candidates")) || tree.isObject(tree.find(node, "promptFeedback"));
  if (answer) return readCandidate(reader, node);
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
