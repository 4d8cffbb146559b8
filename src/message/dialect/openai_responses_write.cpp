// Writes OpenAI's Responses API.
#include <span>

#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeResponsesMedia(NodeWriter& writer, const Block& block) {
  if (block.kind == BlockKind::Image) {
    const std::string_view detail = detailOf(block);
    writer.beginObject().member("type", literal("input_image"));
    writer.key("detail").raw(detail.empty() ? R"("auto")" : detail, true);
    if (block.source == MediaSource::FileId) {
      writer.member("file_id", block.text);
    } else if (block.source == MediaSource::Url) {
      writer.member("image_url", block.text);
    } else {
      writer.key("image_url");
      writeDataUrl(writer, block);
    }
    writer.endObject();
    return;
  }
  writer.beginObject().member("type", literal("input_file"));
  if (block.source == MediaSource::FileId) {
    writer.member("file_id", block.text);
  } else if (block.source == MediaSource::Url) {
    writer.member("file_url", block.text);
  } else {
    writer.member("filename", block.name.empty() ? literal(fileNameOf(mediaTypeOf(block))) : block.name);
    writer.key("file_data");
    writeDataUrl(writer, block);
  }
  writer.endObject();
}

// Writes a stored call, output or item of another kind, which is a whole item.
bool writeStoredItem(const OutBlock& outBlock, Sink& sink) {
  const bool item = outBlock.kind != BlockKind::Text && outBlock.kind != BlockKind::Refusal;
  if (!outBlock.stored || !item) return false;
  writeStored(sink.begin(), outBlock);
  sink.addBlock(outBlock);
  sink.end();
  return true;
}

void writeText(NodeWriter& writer, const TextView& text) {
  writer.beginObject().member("type", literal("input_text")).member("text", text).endObject();
}

void writeResponsesCall(const OutBlock& outBlock, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("type", literal(outBlock.freeform ? "custom_tool_call" : "function_call"));
  writer.member("call_id", outBlock.id).member("name", outBlock.name);
  if (outBlock.freeform) {
    writer.member("input", outBlock.text);
  } else if (outBlock.input.starts_with('"')) {
    const std::string_view body = outBlock.input.substr(1, outBlock.input.size() - 2);
    writer.member("arguments", TextView{.escaped = body, .present = true, .oddEscapes = hasOddEscapes(body)});
  } else {
    writer.member("arguments", outBlock.input);
  }
  writer.endObject();
  sink.addBlock(outBlock);
  sink.end();
}

void writeResponsesResult(const OutBlock& outBlock, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("type", literal(outBlock.freeform ? "custom_tool_call_output" : "function_call_output"));
  writer.member("call_id", outBlock.id).key("output");
  const bool marked = !outBlock.texts.empty() && outBlock.texts.front().escaped.starts_with("Error");
  const std::string_view prefix = outBlock.isError && !marked ? "Error: " : "";
  if (outBlock.media.empty()) {
    writeJoined(writer, outBlock, prefix);
  } else {
    writer.beginArray();
    if (!outBlock.texts.empty() || !prefix.empty()) {
      writer.beginObject().member("type", literal("input_text")).key("text");
      writeJoined(writer, outBlock, prefix);
      writer.endObject();
    }
    for (const Block* block : outBlock.media) writeResponsesMedia(writer, *block);
    writer.endArray();
  }
  writer.endObject();
  sink.addBlock(outBlock);
  sink.end();
}

bool isAnswer(const OutBlock& outBlock) {
  return outBlock.kind == BlockKind::Text || outBlock.kind == BlockKind::Refusal;
}

// Writes one item with several parts. The item needs an id, and no two items may have the same id.
void writeAnswerParts(std::span<const OutBlock> parts, Sink& sink) {
  NodeWriter& writer = sink.begin();
  const std::string seed = std::to_string(sink.count()) + std::string(parts.front().text.escaped);
  const std::string id = "msg_" + std::string(toHex(hashBytes(seed)).view());
  writer.beginObject().member("type", literal("message")).member("id", literal(id));
  writer.member("role", literal("assistant")).member("status", literal("completed")).key("content").beginArray();
  for (const OutBlock& part : parts) {
    if (writeStored(writer, part)) {
      // Written with its annotations and other members.
    } else if (part.kind == BlockKind::Refusal) {
      writer.beginObject().member("type", literal("refusal")).member("refusal", part.text).endObject();
    } else {
      writer.beginObject().member("type", literal("output_text")).member("text", part.text);
      writer.key("annotations").beginArray().endArray().endObject();
    }
    sink.addBlock(part);
  }
  writer.endArray().endObject();
  sink.end();
}

// Writes the texts and refusals at the beginning of `blocks` and returns their number. Answers without ids are written
// in the short form, as messages with a plain string. Refusals have no short form, and neither do the remaining parts
// of an edited message.
std::size_t writeAnswers(std::span<const OutBlock> blocks, Sink& sink) {
  std::size_t count = 0;
  bool stored = false;
  for (; count < blocks.size() && isAnswer(blocks[count]); ++count) {
    stored |= blocks[count].stored && blocks[count].block->raw.starts_with('{');
  }
  const std::span<const OutBlock> answers = blocks.first(count);
  if (stored) {
    writeAnswerParts(answers, sink);
    return count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (answers[i].kind == BlockKind::Refusal) {
      writeAnswerParts(answers.subspan(i, 1), sink);
      continue;
    }
    NodeWriter& writer = sink.begin();
    writer.beginObject().member("role", literal("assistant")).member("content", answers[i].text);
    sink.addBlock(answers[i]);
    writer.endObject();
    sink.end();
  }
  return count;
}

}  // namespace

void writeOpenaiResponses(const OutMessage& message, Sink& sink) {
  if (message.role == Role::Assistant || message.role == Role::Tool) {
    for (std::span<const OutBlock> rest = message.outBlocks; !rest.empty();) {
      if (const std::size_t written = writeAnswers(rest, sink); written > 0) {
        rest = rest.subspan(written);
        continue;
      }
      const OutBlock& outBlock = rest.front();
      rest = rest.subspan(1);
      if (writeStoredItem(outBlock, sink)) continue;
      if (outBlock.kind == BlockKind::ToolCall) {
        writeResponsesCall(outBlock, sink);
      } else {
        writeResponsesResult(outBlock, sink);
      }
    }
    return;
  }
  NodeWriter& writer = sink.begin();
  const bool developer = message.role == Role::System && message.roleName.escaped == "developer";
  const std::string_view role = developer ? "developer" : message.role == Role::System ? "system" : "user";
  writer.beginObject().member("role", literal(role)).key("content");
  if (message.outBlocks.size() == 1 && message.outBlocks.front().kind == BlockKind::Text &&
      !message.outBlocks.front().stored) {
    writer.text(message.outBlocks.front().text);
    sink.addBlock(message.outBlocks.front());
  } else {
    writer.beginArray();
    for (const OutBlock& outBlock : message.outBlocks) {
      if (writeStored(writer, outBlock)) {
        sink.addBlock(outBlock);
        continue;
      }
      if (outBlock.kind == BlockKind::Image || outBlock.kind == BlockKind::Document) {
        writeResponsesMedia(writer, *outBlock.block);
      } else {
        writeText(writer, outBlock.text);
      }
      sink.addBlock(outBlock);
    }
    writer.endArray();
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
