// Origin: {"boughOrigin":1,"dialect":…,"frames":[…],"natives":[…],"nodes":[…],"ids":[…],"names":[…]}.
// Natives stand in it as the JSON they are, so writing one is a copy; see docs/messages.md for the members.
#include <simdjson.h>

#include "base/json_write.h"
#include "message/origin.h"

namespace bough::message {
namespace {

// Text that is not UTF-8 cannot be a JSON string; it is written as hex digits in an object.
void writeBytes(json::Writer& writer, std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) {
    writer.string(bytes);
    return;
  }
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  writer.beginObject().member("hex", hex).endObject();
}

std::string_view nameOf(Section section) {
  switch (section) {
    case Section::System: return "system";
    case Section::Tools: return "tools";
    case Section::Messages: return "messages";
  }
  return "messages";
}

void writeFrame(json::Writer& writer, const Frame& frame) {
  writer.beginObject().member("dialect", toString(frame.dialect)).member("bare", frame.bare);
  writer.member("stringInput", frame.stringInput).member("toolCount", frame.toolCount).key("tools");
  writeBytes(writer, frame.toolsText);
  writer.key("pieces").beginArray();
  for (const Frame::Piece& piece : frame.pieces) {
    writer.beginArray();
    writeBytes(writer, piece.text);
    if (piece.hasSlot) {
      writer.string(nameOf(piece.slot));
      writeBytes(writer, piece.keyText);
      writeBytes(writer, piece.emptyText);
      writeBytes(writer, piece.endText);
    }
    writer.endArray();
  }
  writer.endArray().endObject();
}

void writeNative(json::Writer& writer, const Native& native) {
  writer.beginObject().member("dialect", toString(native.dialect)).member("section", nameOf(native.section));
  if (native.place != kNoPlace) writer.member("place", static_cast<std::uint64_t>(native.place));
  if (native.wholeSlot) writer.member("wholeSlot", true);
  if (!native.separator.empty() && native.separator != ",") {
    writer.key("separator");
    writeBytes(writer, native.separator);
  }
  writer.member("hash", toHex(native.rawHash));
  if (native.signedBlocks) {
    writer.key("prefix").beginArray().string(toHex(native.prefix.system)).string(toHex(native.prefix.tools));
    writer.string(toHex(native.prefix.messages)).endArray();
  }
  const bool text = native.problem.empty() || simdjson::validate_utf8(native.raw.data(), native.raw.size());
  writer.key(text ? "value" : "bytes");
  if (text) {
    writer.raw(native.raw);
  } else {
    writeBytes(writer, native.raw);
  }
  writer.endObject();
}

void writeAliases(json::Writer& writer, const Aliases& aliases) {
  writer.beginArray();
  for (const auto& [alias, original] : aliases.table()) {
    writer.beginArray().string(alias).raw("\"" + std::string(original) + "\"").endArray();
  }
  writer.endArray();
}

}  // namespace

std::string writeOrigin(Dialect target, const History& history, const Records& records) {
  std::size_t bytes = 4096 + records.nodes.size() * 32 + records.leaves.size() * 32;
  std::vector<std::int32_t> stored(history.natives.size(), -1);
  std::vector<std::int32_t> before(history.natives.size(), -1);
  std::int32_t count = 0;
  for (std::size_t i = 0; i < history.natives.size(); ++i) {
    // What stands in the document verbatim needs no copy, only its place among the others.
    before[i] = count - 1;
    if (history.natives[i].dialect == target) continue;
    stored[i] = count++;
    bytes += history.natives[i].raw.size() + 128;
  }
  std::string out;
  out.reserve(bytes);
  json::Writer writer(out);
  writer.beginObject().member("boughOrigin", kOriginVersion).member("dialect", toString(target));
  writer.key("frames").beginArray();
  for (const Frame& frame : history.frames) {
    if (frame.dialect != target) writeFrame(writer, frame);
  }
  writer.endArray().key("natives").beginArray();
  for (std::size_t i = 0; i < history.natives.size(); ++i) {
    if (stored[i] >= 0) writeNative(writer, history.natives[i]);
  }
  writer.endArray().key("nodes").beginArray();
  for (const NodeRecord& node : records.nodes) {
    writer.beginArray().string(nameOf(node.section).substr(0, 1)).string(toHex(node.hash));
    if (node.verbatim) {
      writer.number(std::int64_t{before[static_cast<std::size_t>(node.native)]});
    } else {
      for (std::uint32_t i = 0; i < node.leafCount; ++i) {
        const LeafRecord& leaf = records.leaves[node.firstLeaf + i];
        // -1 marks what is synthetic.
        const std::int64_t native = leaf.native < 0 ? -1 : stored[static_cast<std::size_t>(leaf.native)];
        writer.string(toHex(leaf.hash)).number(native);
      }
    }
    writer.endArray();
  }
  writer.endArray().key("ids");
  writeAliases(writer, history.ids);
  writer.key("names");
  writeAliases(writer, history.names);
  writer.endObject();
  return out;
}

}  // namespace bough::message
