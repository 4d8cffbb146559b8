// Writes Gemini's generateContent.
#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeGeminiMedia(NodeWriter& writer, const Block& block) {
  const TextView type = literal(mediaTypeOf(block));
  writer.beginObject();
  if (block.source == MediaSource::Base64) {
    writer.key("inlineData").beginObject().member("mimeType", type).member("data", block.text).endObject();
  } else {
    writer.key("fileData").beginObject().member("mimeType", type).member("fileUri", block.text).endObject();
  }
  writer.endObject();
}

void writeGeminiCall(NodeWriter& writer, const OutBlock& outBlock) {
  writer.beginObject().key("functionCall").beginObject();
  if (!outBlock.omitId) writer.member("id", outBlock.id);
  writer.member("name", outBlock.name).key("args").raw(outBlock.input).endObject();
  if (outBlock.needsPlaceholderSignature) writer.member("thoughtSignature", literal(kPlaceholderSignature));
  writer.endObject();
}

void writeGeminiResult(NodeWriter& writer, const OutBlock& outBlock) {
  writer.beginObject().key("functionResponse").beginObject();
  if (!outBlock.omitId) writer.member("id", outBlock.id);
  writer.member("name", outBlock.name).key("response").beginObject().key(outBlock.isError ? "error" : "output");
  writeJoined(writer, outBlock);
  writer.endObject();
  if (!outBlock.media.empty()) {
    writer.key("parts").beginArray();
    for (const Block* block : outBlock.media) writeGeminiMedia(writer, *block);
    writer.endArray();
  }
  writer.endObject().endObject();
}

void writeGeminiBlock(NodeWriter& writer, const OutBlock& outBlock) {
  switch (outBlock.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeGeminiMedia(writer, *outBlock.block); return;
    case BlockKind::ToolCall: writeGeminiCall(writer, outBlock); return;
    case BlockKind::ToolResult: writeGeminiResult(writer, outBlock); return;
    default: writer.beginObject().member("text", outBlock.text).endObject();
  }
}

}  // namespace

void writeGemini(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("role", literal(message.role == Role::Assistant ? "model" : "user"));
  writer.key("parts").beginArray();
  for (const OutBlock& outBlock : message.outBlocks) {
    if (!writeStored(writer, outBlock)) writeGeminiBlock(writer, outBlock);
    sink.addBlock(outBlock);
  }
  writer.endArray().endObject();
  sink.end();
}

}  // namespace bough::message
