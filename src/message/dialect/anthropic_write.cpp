// Writes Anthropic's Messages API.
#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeAnthropicMedia(NodeWriter& writer, const Block& block) {
  const bool image = block.kind == BlockKind::Image;
  writer.beginObject().member("type", literal(image ? "image" : "document"));
  writer.key("source").beginObject();
  if (block.source == MediaSource::Base64) {
    writer.member("type", literal("base64")).member("media_type", literal(mediaTypeOf(block)));
    writer.member("data", block.text);
  } else if (block.source == MediaSource::Text) {
    writer.member("type", literal("text")).member("media_type", literal("text/plain")).member("data", block.text);
  } else {
    writer.member("type", literal("url")).member("url", block.text);
  }
  writer.endObject();
  if (!image && !block.name.empty()) writer.member("title", block.name);
  writer.endObject();
}

void writeAnthropicResult(NodeWriter& writer, const OutBlock& outBlock) {
  writer.beginObject().member("type", literal("tool_result")).member("tool_use_id", outBlock.id).key("content");
  if (outBlock.media.empty()) {
    writeJoined(writer, outBlock);
  } else {
    writer.beginArray();
    for (const TextView& text : outBlock.texts) {
      if (!text.empty()) writer.beginObject().member("type", literal("text")).member("text", text).endObject();
    }
    for (const Block* block : outBlock.media) writeAnthropicMedia(writer, *block);
    writer.endArray();
  }
  if (outBlock.isError) writer.key("is_error").boolean(true);
  writer.endObject();
}

void writeAnthropicBlock(NodeWriter& writer, const OutBlock& outBlock) {
  if (writeStored(writer, outBlock)) return;
  switch (outBlock.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeAnthropicMedia(writer, *outBlock.block); return;
    case BlockKind::ToolCall:
      writer.beginObject().member("type", literal("tool_use")).member("id", outBlock.id).member("name", outBlock.name);
      writer.key("input").raw(outBlock.input).endObject();
      return;
    case BlockKind::ToolResult: writeAnthropicResult(writer, outBlock); return;
    default: writer.beginObject().member("type", literal("text")).member("text", outBlock.text).endObject();
  }
}

}  // namespace

void writeAnthropic(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  const std::string_view role = message.role == Role::Assistant ? "assistant"
                                : message.role == Role::System  ? "system"
                                                                : "user";
  writer.beginObject().member("role", literal(role)).key("content");
  if (message.outBlocks.size() == 1 && message.outBlocks.front().kind == BlockKind::Text &&
      !message.outBlocks.front().stored) {
    writer.text(message.outBlocks.front().text);
    sink.addBlock(message.outBlocks.front());
  } else {
    writer.beginArray();
    for (const OutBlock& outBlock : message.outBlocks) {
      if (outBlock.kind != BlockKind::ToolResult) continue;
      writeAnthropicBlock(writer, outBlock);
      sink.addBlock(outBlock);
    }
    for (const OutBlock& outBlock : message.outBlocks) {
      if (outBlock.kind == BlockKind::ToolResult) continue;
      writeAnthropicBlock(writer, outBlock);
      sink.addBlock(outBlock);
    }
    writer.endArray();
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
