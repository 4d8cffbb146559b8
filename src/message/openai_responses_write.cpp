// Writes OpenAI's Responses API.
#include "message/writers.h"

namespace bough::message {
namespace {

void writeMedia(NodeWriter& writer, const Block& block) {
  if (block.kind == BlockKind::Image) {
    writer.beginObject().member("type", literal("input_image")).member("detail", literal("auto"));
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
    writer.member("filename", block.name.empty() ? literal("document.pdf") : block.name).key("file_data");
    writeDataUrl(writer, block);
  }
  writer.endObject();
}

// A stored call, output or item of another kind is a whole item.
bool writeStoredItem(const Piece& piece, Sink& sink) {
  const bool item = piece.kind != BlockKind::Text && piece.kind != BlockKind::Refusal;
  if (!piece.stored || !item) return false;
  writeStored(sink.begin(), piece);
  sink.leaf(piece.native);
  sink.end();
  return true;
}

void writeText(NodeWriter& writer, const TextView& text) {
  writer.beginObject().member("type", literal("input_text")).member("text", text).endObject();
}

void writeCall(const Piece& piece, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("type", literal(piece.freeform ? "custom_tool_call" : "function_call"));
  writer.member("call_id", piece.id).member("name", piece.name);
  if (piece.freeform) {
    writer.member("input", piece.text);
  } else if (piece.input.starts_with('"')) {
    const std::string_view body = piece.input.substr(1, piece.input.size() - 2);
    writer.member("arguments", TextView{.escaped = body, .present = true, .oddEscapes = hasOddEscapes(body)});
  } else {
    writer.member("arguments", piece.input);
  }
  writer.endObject();
  sink.leaf(piece.native);
  sink.end();
}

void writeResult(const Piece& piece, Sink& sink) {
  NodeWriter& writer = sink.begin();
  writer.beginObject().member("type", literal(piece.freeform ? "custom_tool_call_output" : "function_call_output"));
  writer.member("call_id", piece.id).key("output");
  const bool marked = !piece.texts.empty() && piece.texts.front().escaped.starts_with("Error");
  const std::string_view prefix = piece.isError && !marked ? "Error: " : "";
  if (piece.media.empty()) {
    writeJoined(writer, piece, prefix);
  } else {
    writer.beginArray();
    if (!piece.texts.empty() || !prefix.empty()) {
      writer.beginObject().member("type", literal("input_text")).key("text");
      writeJoined(writer, piece, prefix);
      writer.endObject();
    }
    for (const Block* block : piece.media) writeMedia(writer, *block);
    writer.endArray();
  }
  writer.endObject();
  sink.leaf(piece.native);
  sink.end();
}

// Answers without ids are sent as easy messages, which take a plain string.
void writeAnswer(const Piece& piece, Sink& sink) {
  NodeWriter& writer = sink.begin();
  if (piece.kind == BlockKind::Refusal) {
    // Refusals have no short form, and items no two may share an id.
    const std::string seed = std::to_string(sink.count()) + std::string(piece.text.escaped);
    const std::string id = "msg_" + std::string(toHex(hashBytes(seed)).view());
    writer.beginObject().member("type", literal("message")).member("id", literal(id));
    writer.member("role", literal("assistant")).member("status", literal("completed")).key("content").beginArray();
    writer.beginObject().member("type", literal("refusal")).member("refusal", piece.text).endObject();
    sink.leaf(piece.native);
    writer.endArray();
  } else {
    writer.beginObject().member("role", literal("assistant")).member("content", piece.text);
    sink.leaf(piece.native);
  }
  writer.endObject();
  sink.end();
}

}  // namespace

void writeOpenaiResponses(const OutMessage& message, Sink& sink) {
  if (message.role == Role::Assistant || message.role == Role::Tool) {
    for (const Piece& piece : message.pieces) {
      if (writeStoredItem(piece, sink)) continue;
      if (piece.kind == BlockKind::ToolCall) {
        writeCall(piece, sink);
      } else if (piece.kind == BlockKind::ToolResult) {
        writeResult(piece, sink);
      } else {
        writeAnswer(piece, sink);
      }
    }
    return;
  }
  NodeWriter& writer = sink.begin();
  const bool developer = message.role == Role::System && message.roleName.escaped == "developer";
  const std::string_view role = developer ? "developer" : message.role == Role::System ? "system" : "user";
  writer.beginObject().member("role", literal(role)).key("content");
  if (message.pieces.size() == 1 && message.pieces.front().kind == BlockKind::Text && !message.pieces.front().stored) {
    writer.text(message.pieces.front().text);
    sink.leaf(message.pieces.front().native);
  } else {
    writer.beginArray();
    for (const Piece& piece : message.pieces) {
      if (writeStored(writer, piece)) {
        sink.leaf(piece.native);
        continue;
      }
      if (piece.kind == BlockKind::Image || piece.kind == BlockKind::Document) {
        writeMedia(writer, *piece.block);
      } else {
        writeText(writer, piece.text);
      }
      sink.leaf(piece.native);
    }
    writer.endArray();
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
