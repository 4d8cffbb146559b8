// Writes OpenAI's Responses API.
#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeResponsesMedia(NodeWriter& writer, const Block& block) {
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
bool writeStoredItem(const OutBlock& outBlock, Sink& sink) {
  const bool item = outBlock.kind != BlockKind::Text && outBlock.kind != BlockKind::Refusal;
  if (!outBlock.stored || !item) return false;
  writeStored(sink.begin(), outBlock);
  sink.leaf(outBlock);
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
  sink.leaf(outBlock);
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
  sink.leaf(outBlock);
  sink.end();
}

// Answers without ids are sent as easy messages, which take a plain string.
void writeAnswer(const OutBlock& outBlock, Sink& sink) {
  NodeWriter& writer = sink.begin();
  if (outBlock.kind == BlockKind::Refusal) {
    // Refusals have no short form, and items no two may share an id.
    const std::string seed = std::to_string(sink.count()) + std::string(outBlock.text.escaped);
    const std::string id = "msg_" + std::string(toHex(hashBytes(seed)).view());
    writer.beginObject().member("type", literal("message")).member("id", literal(id));
    writer.member("role", literal("assistant")).member("status", literal("completed")).key("content").beginArray();
    writer.beginObject().member("type", literal("refusal")).member("refusal", outBlock.text).endObject();
    sink.leaf(outBlock);
    writer.endArray();
  } else {
    writer.beginObject().member("role", literal("assistant")).member("content", outBlock.text);
    sink.leaf(outBlock);
  }
  writer.endObject();
  sink.end();
}

}  // namespace

void writeOpenaiResponses(const OutMessage& message, Sink& sink) {
  if (message.role == Role::Assistant || message.role == Role::Tool) {
    for (const OutBlock& outBlock : message.outBlocks) {
      if (writeStoredItem(outBlock, sink)) continue;
      if (outBlock.kind == BlockKind::ToolCall) {
        writeResponsesCall(outBlock, sink);
      } else if (outBlock.kind == BlockKind::ToolResult) {
        writeResponsesResult(outBlock, sink);
      } else {
        writeAnswer(outBlock, sink);
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
    sink.leaf(message.outBlocks.front());
  } else {
    writer.beginArray();
    for (const OutBlock& outBlock : message.outBlocks) {
      if (writeStored(writer, outBlock)) {
        sink.leaf(outBlock);
        continue;
      }
      if (outBlock.kind == BlockKind::Image || outBlock.kind == BlockKind::Document) {
        writeResponsesMedia(writer, *outBlock.block);
      } else {
        writeText(writer, outBlock.text);
      }
      sink.leaf(outBlock);
    }
    writer.endArray();
  }
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
