#include "message/dialect/writers.h"

#include <array>

#include "base/check.h"

namespace bough::message {

void Sink::separate(std::string_view separator) {
  if (count_++ == 0) return;
  out_ += separator.empty() ? std::string_view(usualSeparator_) : separator;
}

NodeWriter& Sink::begin() {
  separate({});
  firstBlock_ = records_.blocks.size();
  return writer_;
}

void Sink::end() {
  records_.values.push_back({.section = section_,
                             .verbatim = false,
                             .original = -1,
                             .hash = writer_.lastHash(),
                             .firstBlock = static_cast<std::uint32_t>(firstBlock_),
                             .blockCount = static_cast<std::uint32_t>(records_.blocks.size() - firstBlock_),
                             .end = out_.size()});
}

void Sink::splice(std::int32_t original, std::string_view raw, std::string_view separator, std::uint64_t hash) {
  if (!separator.empty()) usualSeparator_ = separator;
  separate(separator);
  out_ += raw;
  records_.values.push_back({.section = section_,
                             .verbatim = true,
                             .original = original,
                             .hash = hash,
                             .firstBlock = static_cast<std::uint32_t>(records_.blocks.size()),
                             .blockCount = 0,
                             .end = out_.size()});
}

void writeMessage(Dialect dialect, const OutMessage& message, Sink& sink) {
  switch (dialect) {
    case Dialect::Anthropic: writeAnthropic(message, sink); return;
    case Dialect::OpenaiChat: writeOpenaiChat(message, sink); return;
    case Dialect::OpenaiResponses: writeOpenaiResponses(message, sink); return;
    case Dialect::Gemini: writeGemini(message, sink); return;
    case Dialect::Bough: writeBough(message, sink); return;
    case Dialect::Plain: break;
  }
  BOUGH_CHECK(false && "plain messages are never written");
}

void writeSystem(Dialect dialect, const OutMessage& message, Sink& sink) {
  NodeWriter& writer = sink.begin();
  const std::vector<OutBlock>& outBlocks = message.outBlocks;
  if (dialect == Dialect::Gemini) {
    writer.beginObject().key("parts").beginArray();
    for (const OutBlock& outBlock : outBlocks) {
      if (!writeStored(writer, outBlock)) writer.beginObject().member("text", outBlock.text).endObject();
      sink.addBlock(outBlock);
    }
    writer.endArray().endObject();
  } else if (outBlocks.size() == 1 || dialect == Dialect::OpenaiResponses) {
    std::vector<TextView> texts;
    for (const OutBlock& outBlock : outBlocks) {
      if (!texts.empty()) texts.push_back(literal("\\n\\n"));
      texts.push_back(outBlock.text);
    }
    writer.texts(texts);
    sink.addBlock(outBlocks.front().original);
  } else {
    writer.beginArray();
    for (const OutBlock& outBlock : outBlocks) {
      if (!writeStored(writer, outBlock)) {
        writer.beginObject().member("type", literal("text")).member("text", outBlock.text).endObject();
      }
      sink.addBlock(outBlock);
    }
    writer.endArray();
  }
  sink.end();
}

bool writeStored(NodeWriter& writer, const OutBlock& outBlock) {
  if (!outBlock.stored || !outBlock.block->raw.starts_with('{')) return false;
  writer.raw(outBlock.raw.empty() ? outBlock.block->raw : outBlock.raw, true);
  return true;
}

void writeJoined(NodeWriter& writer, const OutBlock& result, std::string_view prefix) {
  if (result.texts.size() == 1 && prefix.empty()) {
    writer.text(result.texts.front());
    return;
  }
  std::vector<TextView> texts;
  if (!prefix.empty()) texts.push_back(literal(prefix));
  for (std::size_t i = 0; i < result.texts.size(); ++i) {
    if (i > 0) texts.push_back(literal("\\n"));
    texts.push_back(result.texts[i]);
  }
  writer.texts(texts);
}

void writeDataUrl(NodeWriter& writer, const Block& block) {
  const std::array<TextView, 4> parts = {literal("data:"), literal(mediaTypeOf(block)), literal(";base64,"),
                                         block.text};
  writer.texts(parts);
}

}  // namespace bough::message
