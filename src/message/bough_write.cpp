// Writes the normalized form itself. It has a word for everything; what is unknown stands in it verbatim.
#include "message/writers.h"

namespace bough::message {
namespace {

void writeOptional(NodeWriter& writer, std::string_view name, const TextView& text) {
  if (text.present) writer.member(name, text);
}

void writeMedia(NodeWriter& writer, const Block& block) {
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
    writeMedia(writer, block);
  } else {
    writeVerbatim(writer, block, toString(BlockKind::Unknown));
  }
}

void writeResult(NodeWriter& writer, const Piece& piece) {
  writer.beginObject().member("type", literal("tool_result"));
  if (!piece.omitId) writer.member("id", piece.id);
  writeOptional(writer, "name", piece.name);
  if (piece.isError) writer.key("isError").boolean(true);
  writer.key("content").beginArray();
  for (const TextView& text : piece.texts) {
    writer.beginObject().member("type", literal("text")).member("text", text).endObject();
  }
  for (const Block* block : piece.media) writeNested(writer, *block);
  writer.endArray().endObject();
}

void writeCall(NodeWriter& writer, const Piece& piece) {
  writer.beginObject().member("type", literal("tool_call"));
  if (!piece.omitId) writer.member("id", piece.id);
  writer.member("name", piece.name);
  if (piece.freeform) {
    writer.member("text", piece.text);
  } else {
    writer.key("input").raw(piece.input);
  }
  writeOptional(writer, "signature", piece.block->signature);
  writer.endObject();
}

void writePiece(NodeWriter& writer, const Piece& piece) {
  if (writeStored(writer, piece)) return;
  switch (piece.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeMedia(writer, *piece.block); return;
    case BlockKind::ToolCall: writeCall(writer, piece); return;
    case BlockKind::ToolResult: writeResult(writer, piece); return;
    case BlockKind::Citation:
    case BlockKind::Unknown: writeVerbatim(writer, *piece.block, toString(piece.kind)); return;
    case BlockKind::RedactedThinking:
      writer.beginObject().member("type", literal(toString(piece.kind)));
      writeOptional(writer, "signature", piece.block->signature);
      writer.endObject();
      return;
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal:
      writer.beginObject().member("type", literal(toString(piece.kind))).member("text", piece.text);
      if (piece.block != nullptr) writeOptional(writer, "signature", piece.block->signature);
      writer.endObject();
  }
}

}  // namespace

void writeBough(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("role", literal(toString(message.role))).key("content").beginArray();
  for (const Piece& piece : message.pieces) {
    writePiece(writer, piece);
    sink.leaf(piece.native);
  }
  writer.endArray().endObject();
  sink.end();
}

}  // namespace bough::message
