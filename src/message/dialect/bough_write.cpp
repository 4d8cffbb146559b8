// Writes the normalized form itself. It can express everything; unknown blocks are written verbatim.
#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeOptional(NodeWriter& writer, std::string_view name, const TextView& text) {
  if (text.present) writer.member(name, text);
}

void writeBoughMedia(NodeWriter& writer, const Block& block) {
  std::string_view place = "text";
  if (block.source == MediaSource::Base64) place = "data";
  if (block.source == MediaSource::Url) place = "url";
  if (block.source == MediaSource::FileId) place = "fileId";
  writer.beginObject().member("type", literal(block.kind == BlockKind::Image ? "image" : "document"));
  writeOptional(writer, "mediaType", block.type);
  writer.member(place, block.text);
  writeOptional(writer, "name", block.name);
  writer.endObject();
}

void writeVerbatim(NodeWriter& writer, const Block& block, std::string_view type) {
  writer.beginObject().member("type", literal(type)).key("value").raw(block.raw).endObject();
}

void writeNested(NodeWriter& writer, const Block& block) {
  if (block.kind == BlockKind::Image || block.kind == BlockKind::Document) {
    writeBoughMedia(writer, block);
  } else {
    writeVerbatim(writer, block, toString(BlockKind::Unknown));
  }
}

void writeBoughResult(NodeWriter& writer, const OutBlock& outBlock) {
  writer.beginObject().member("type", literal("tool_result"));
  if (!outBlock.omitId) writer.member("id", outBlock.id);
  writeOptional(writer, "name", outBlock.name);
  if (outBlock.isError) writer.key("isError").boolean(true);
  writer.key("content").beginArray();
  for (const TextView& text : outBlock.texts) {
    writer.beginObject().member("type", literal("text")).member("text", text).endObject();
  }
  for (const Block* block : outBlock.media) writeNested(writer, *block);
  writer.endArray().endObject();
}

void writeBoughCall(NodeWriter& writer, const OutBlock& outBlock) {
  writer.beginObject().member("type", literal("tool_call"));
  if (!outBlock.omitId) writer.member("id", outBlock.id);
  writer.member("name", outBlock.name);
  if (outBlock.freeform) {
    writer.member("text", outBlock.text);
  } else {
    writer.key("input").raw(outBlock.input);
  }
  writeOptional(writer, "signature", outBlock.block->signature);
  writer.endObject();
}

void writeBoughBlock(NodeWriter& writer, const OutBlock& outBlock) {
  if (writeStored(writer, outBlock)) return;
  switch (outBlock.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeBoughMedia(writer, *outBlock.block); return;
    case BlockKind::ToolCall: writeBoughCall(writer, outBlock); return;
    case BlockKind::ToolResult: writeBoughResult(writer, outBlock); return;
    case BlockKind::Citation:
    case BlockKind::Unknown: writeVerbatim(writer, *outBlock.block, toString(outBlock.kind)); return;
    case BlockKind::RedactedThinking:
      writer.beginObject().member("type", literal(toString(outBlock.kind)));
      writeOptional(writer, "signature", outBlock.block->signature);
      writer.endObject();
      return;
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal:
      writer.beginObject().member("type", literal(toString(outBlock.kind))).member("text", outBlock.text);
      if (outBlock.block != nullptr) writeOptional(writer, "signature", outBlock.block->signature);
      writer.endObject();
  }
}

}  // namespace

void writeBough(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("role", literal(toString(message.role))).key("content").beginArray();
  for (const OutBlock& outBlock : message.outBlocks) {
    writeBoughBlock(writer, outBlock);
    sink.addBlock(outBlock);
  }
  writer.endArray().endObject();
  sink.end();
}

}  // namespace bough::message
