// Writes OpenAI's Chat Completions.

#include "message/dialect/writers.h"

namespace bough::message {
namespace {

void writeChatMedia(NodeWriter& writer, const Block& block) {
  const std::string_view type = mediaTypeOf(block);
  if (block.kind == BlockKind::Image) {
    writer.beginObject().member("type", literal("image_url")).key("image_url").beginObject().key("url");
    if (block.source == MediaSource::Base64) {
      writeDataUrl(writer, block);
    } else {
      writer.text(block.text);
    }
    if (const std::string_view detail = detailOf(block); !detail.empty()) writer.key("detail").raw(detail, true);
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
    writer.member("filename", block.name.empty() ? literal(fileNameOf(mediaTypeOf(block))) : block.name);
    writer.key("file_data");
    writeDataUrl(writer, block);
  }
  writer.endObject().endObject();
}

void writePart(NodeWriter& writer, const OutBlock& outBlock) {
  if (writeStored(writer, outBlock)) return;
  if (outBlock.kind == BlockKind::Image || outBlock.kind == BlockKind::Document) {
    writeChatMedia(writer, *outBlock.block);
  } else if (outBlock.kind == BlockKind::Refusal) {
    writer.beginObject().member("type", literal("refusal")).member("refusal", outBlock.text).endObject();
  } else {
    writer.beginObject().member("type", literal("text")).member("text", outBlock.text).endObject();
  }
}

void writeChatCall(NodeWriter& writer, const OutBlock& outBlock) {
  if (writeStored(writer, outBlock)) return;
  writer.beginObject().member("id", outBlock.id);
  if (outBlock.freeform) {
    writer.member("type", literal("custom")).key("custom").beginObject();
    writer.member("name", outBlock.name).member("input", outBlock.text);
  } else {
    writer.member("type", literal("function")).key("function").beginObject().member("name", outBlock.name);
    writer.key("arguments");
    if (outBlock.input.starts_with('"')) {
      const std::string_view body = outBlock.input.substr(1, outBlock.input.size() - 2);
      writer.text({.escaped = body, .present = true, .oddEscapes = hasOddEscapes(body)});
    } else {
      writer.plain(outBlock.input);
    }
  }
  writer.endObject().endObject();
}

void writeResults(const OutMessage& message, Sink& sink) {
  for (const OutBlock& outBlock : message.outBlocks) {
    NodeWriter& writer = sink.begin();
    if (writeStored(writer, outBlock)) {
      sink.addBlock(outBlock);
      sink.end();
      continue;
    }
    const bool marked = !outBlock.texts.empty() && outBlock.texts.front().escaped.starts_with("Error");
    writer.beginObject().member("role", literal("tool")).member("tool_call_id", outBlock.id).key("content");
    writeJoined(writer, outBlock, outBlock.isError && !marked ? "Error: " : "");
    writer.endObject();
    sink.addBlock(outBlock);
    sink.end();
  }
}

// Returns whether the block is a stored spoken answer. It is not a part of the content, and is sent back by its id.
bool isSpoken(const OutBlock& outBlock) {
  return outBlock.stored && outBlock.kind != BlockKind::ToolCall && outBlock.block->id.present &&
         outBlock.block->type.escaped == "audio";
}

void writeContent(NodeWriter& writer, const std::vector<const OutBlock*>& parts, Sink& sink) {
  if (parts.size() == 1 && parts.front()->kind == BlockKind::Text && !parts.front()->stored) {
    writer.text(parts.front()->text);
    sink.addBlock(*parts.front());
    return;
  }
  writer.beginArray();
  for (const OutBlock* outBlock : parts) {
    writePart(writer, *outBlock);
    sink.addBlock(*outBlock);
  }
  writer.endArray();
}

}  // namespace

void writeOpenaiChat(const OutMessage& message, Sink& sink) {
  if (message.role == Role::Tool) {
    writeResults(message, sink);
    return;
  }
  std::vector<const OutBlock*> parts;
  std::vector<const OutBlock*> calls;
  const OutBlock* reasoning = nullptr;
  const OutBlock* spoken = nullptr;
  for (const OutBlock& outBlock : message.outBlocks) {
    if (outBlock.kind == BlockKind::Thinking) {
      reasoning = &outBlock;
    } else if (isSpoken(outBlock)) {
      spoken = &outBlock;
    } else {
      (outBlock.kind == BlockKind::ToolCall ? calls : parts).push_back(&outBlock);
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
    for (const OutBlock* outBlock : calls) {
      writeChatCall(writer, *outBlock);
      sink.addBlock(*outBlock);
    }
    writer.endArray();
  }
  if (spoken != nullptr) {
    writer.key("audio").beginObject().member("id", spoken->block->id).endObject();
    sink.addBlock(*spoken);
  }
  if (reasoning != nullptr) {
    writer.key("reasoning_content").text(reasoning->text);
    sink.addBlock(*reasoning);
  }
  for (const auto& [name, value] : message.members) writer.key(name).raw(value, true);
  writer.endObject();
  sink.end();
}

}  // namespace bough::message
