// Writes Anthropic's Messages API.
#include "message/writers.h"

namespace bough::message {
namespace {

void writeMedia(NodeWriter& writer, const Block& block) {
  const bool image = block.kind == BlockKind::Image;
  writer.beginObject().member("type", literal(image ? "image" : "document"));
  writer.key("source").beginObject();
  if (block.source == MediaSource::Base64) {
    writer.member("type", literal("base64")).member("media_type", literal(mediaTypeOf(block)));
    writer.member("data", block.text);
  } else {
    writer.member("type", literal("url")).member("url", block.text);
  }
  writer.endObject();
  if (!image && !block.name.empty()) writer.member("title", block.name);
  writer.endObject();
}

void writeResult(NodeWriter& writer, const Piece& piece) {
  writer.beginObject().member("type", literal("tool_result")).member("tool_use_id", piece.id).key("content");
  if (piece.media.empty()) {
    writeJoined(writer, piece);
  } else {
    writer.beginArray();
    for (const TextView& text : piece.texts) {
      if (!text.empty()) writer.beginObject().member("type", literal("text")).member("text", text).endObject();
    }
    for (const Block* block : piece.media) writeMedia(writer, *block);
    writer.endArray();
  }
  if (piece.isError) writer.key("is_error").boolean(true);
  writer.endObject();
}

void writePiece(NodeWriter& writer, const Piece& piece) {
  if (writeStored(writer, piece)) return;
  switch (piece.kind) {
    case BlockKind::Image:
    case BlockKind::Document: writeMedia(writer, *piece.block); return;
    case BlockKind::ToolCall:
      writer.beginObject().member("type", literal("tool_use")).member("id", piece.id).member("name", piece.name);
      writer.key("input").raw(piece.input).endObject();
      return;
    case BlockKind::ToolResult: writeResult(writer, piece); return;
    default: writer.beginObject().member("type", literal("text")).member("text", piece.text).endObject();
  }
}

}  // namespace

void writeAnthropic(const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  const std::string_view role = message.role == Role::Assistant ? "assistant"
                                : message.role == Role::System  ? "system"
                                                                : "user";
  writer.beginObject().member("role", literal(role)).key("content");
  if (message.pieces.size() == 1 && message.pieces.front().kind == BlockKind::Text && !message.pieces.front().stored) {
    writer.text(message.pieces.front().text);
    sink.leaf(message.pieces.front().native);
  } else {
    writer.beginArray();
    for (const Piece& piece : message.pieces) {
      if (piece.kind != BlockKind::ToolResult) continue;
      writePiece(writer, piece);
      sink.leaf(piece.native);
    }
    for (const Piece& piece : message.pieces) {
      if (piece.kind == BlockKind::ToolResult) continue;
      writePiece(writer, piece);
      sink.leaf(piece.native);
    }
    writer.endArray();
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
