// Writes Gemini's generateContent.
#include "message/writers.h"

namespace bough::message {
namespace {

// What the API documents for calls that another model made, which have no signature of its own.
constexpr std::string_view kForeignCall = "skip_thought_signature_validator";

void writeMedia(NodeWriter& writer, const Block& block) {
  const TextView type = literal(mediaTypeOf(block));
  writer.beginObject();
  if (block.source == MediaSource::Base64) {
    writer.key("inlineData").beginObject().member("mimeType", type).member("data", block.text).endObject();
  } else {
    writer.key("fileData").beginObject().member("mimeType", type).member("fileUri", block.text).endObject();
  }
  writer.endObject();
}

void writeCall(NodeWriter& writer, const Piece& piece) {
  writer.beginObject().key("functionCall").beginObject();
  if (!piece.omitId) writer.member("id", piece.id);
  writer.member("name", piece.name).key("args").raw(piece.input).endObject();
  if (piece.sentinel) writer.member("thoughtSignature", literal(kForeignCall));
  writer.endObject();
}

void writeResult(NodeWriter& writer, const Piece& piece) {
  writer.beginObject().key("functionResponse").beginObject();
  if (!piece.omitId) writer.member("id", piece.id);
  writer.member("name", piece.name).key("response").beginObject().key(piece.isError ? "error" : "output");
  writeJoined(writer, piece);
  writer.endObject();
  if (!piece.media.empty()) {
    writer.key("parts").beginArray();
    for (const Block* block : piece.media) writeMedia(writer, *block);
    writer.endArray();
  }
  writer.endObject().endObject();
}

void writePiece(NodeWriter& writer, const Piece& piece) {
  switch (piece.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeMedia(writer, *piece.block); return;
    case BlockKind::ToolCall: writeCall(writer, piece); return;
    case BlockKind::ToolResult: writeResult(writer, piece); return;
    default: writer.beginObject().member("text", piece.text).endObject();
  }
}

}  // namespace

void writeGemini(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("role", literal(message.role == Role::Assistant ? "model" : "user"));
  writer.key("parts").beginArray();
  for (const Piece& piece : message.pieces) {
    if (!writeStored(writer, piece)) writePiece(writer, piece);
    sink.leaf(piece.native);
  }
  writer.endArray().endObject();
  sink.end();
}

}  // namespace bough::message
