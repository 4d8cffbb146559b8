// Writes OpenAI's Chat Completions.
#include <algorithm>

#include "message/writers.h"

namespace bough::message {
namespace {

void writeMedia(NodeWriter& writer, const Block& block) {
  const std::string_view type = mediaTypeOf(block);
  if (block.kind == BlockKind::Image) {
    writer.beginObject().member("type", literal("image_url")).key("image_url").beginObject().key("url");
    if (block.source == MediaSource::Base64) {
      writeDataUrl(writer, block);
    } else {
      writer.text(block.text);
    }
    writer.endObject().endObject();
    return;
  }
  if (type.starts_with("audio/")) {
    writer.beginObject().member("type", literal("input_audio")).key("input_audio").beginObject();
    writer.member("data", block.text).member("format", literal(type == "audio/mp3" ? "mp3" : "wav"));
    writer.endObject().endObject();
    return;
  }
  writer.beginObject().member("type", literal("file")).key("file").beginObject();
  if (block.source == MediaSource::FileId) {
    writer.member("file_id", block.text);
  } else {
    writer.member("filename", block.name.empty() ? literal("document.pdf") : block.name).key("file_data");
    writeDataUrl(writer, block);
  }
  writer.endObject().endObject();
}

void writePart(NodeWriter& writer, const Piece& piece) {
  if (writeStored(writer, piece)) return;
  if (piece.kind == BlockKind::Image || piece.kind == BlockKind::Document) {
    writeMedia(writer, *piece.block);
  } else if (piece.kind == BlockKind::Refusal) {
    writer.beginObject().member("type", literal("refusal")).member("refusal", piece.text).endObject();
  } else {
    writer.beginObject().member("type", literal("text")).member("text", piece.text).endObject();
  }
}

void writeCall(NodeWriter& writer, const Piece& piece) {
  if (writeStored(writer, piece)) return;
  writer.beginObject().member("id", piece.id);
  if (piece.freeform) {
    writer.member("type", literal("custom")).key("custom").beginObject();
    writer.member("name", piece.name).member("input", piece.text);
  } else {
    writer.member("type", literal("function")).key("function").beginObject().member("name", piece.name);
    writer.key("arguments");
    if (piece.input.starts_with('"')) {
      const std::string_view body = piece.input.substr(1, piece.input.size() - 2);
      writer.text({.escaped = body, .present = true, .oddEscapes = hasOddEscapes(body)});
    } else {
      writer.plain(piece.input);
    }
  }
  writer.endObject().endObject();
}

void writeResults(const OutMessage& message, Sink& sink) {
  for (const Piece& piece : message.pieces) {
    NodeWriter& writer = sink.begin();
    if (writeStored(writer, piece)) {
      sink.leaf(piece.native);
      sink.end();
      continue;
    }
    const bool marked = !piece.texts.empty() && piece.texts.front().escaped.starts_with("Error");
    writer.beginObject().member("role", literal("tool")).member("tool_call_id", piece.id).key("content");
    writeJoined(writer, piece, piece.isError && !marked ? "Error: " : "");
    writer.endObject();
    sink.leaf(piece.native);
    sink.end();
  }
}

void writeContent(NodeWriter& writer, const std::vector<const Piece*>& parts, Sink& sink) {
  if (parts.size() == 1 && parts.front()->kind == BlockKind::Text && !parts.front()->stored) {
    writer.text(parts.front()->text);
    sink.leaf(parts.front()->native);
    return;
  }
  writer.beginArray();
  for (const Piece* piece : parts) {
    writePart(writer, *piece);
    sink.leaf(piece->native);
  }
  writer.endArray();
}

}  // namespace

void writeOpenaiChat(const OutMessage& message, Sink& sink) {
  if (message.role == Role::Tool) {
    writeResults(message, sink);
    return;
  }
  std::vector<const Piece*> parts;
  std::vector<const Piece*> calls;
  const Piece* reasoning = nullptr;
  for (const Piece& piece : message.pieces) {
    if (piece.kind == BlockKind::Thinking) {
      reasoning = &piece;
    } else {
      (piece.kind == BlockKind::ToolCall ? calls : parts).push_back(&piece);
    }
  }
  NodeWriter& writer = sink.begin();
  const bool developer = message.role == Role::System && message.roleName.escaped == "developer";
  const std::string_view role = developer                         ? "developer"
                                : message.role == Role::System    ? "system"
                                : message.role == Role::Assistant ? "assistant"
                                                                  : "user";
  writer.beginObject().member("role", literal(role)).key("content");
  if (parts.empty()) {
    writer.null();
  } else {
    writeContent(writer, parts, sink);
  }
  if (!calls.empty()) {
    writer.key("tool_calls").beginArray();
    for (const Piece* piece : calls) {
      writeCall(writer, *piece);
      sink.leaf(piece->native);
    }
    writer.endArray();
  }
  if (reasoning != nullptr) {
    writer.key("reasoning_content").text(reasoning->text);
    sink.leaf(reasoning->native);
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
