// Origin: {"boughOrigin":1,"dialect":…,"frames":[…],"natives":[…],"nodes":[…],"ids":[…],"names":[…]}.
// Natives stand in it as the JSON they are, so writing one is a copy; see docs/messages.md for the members.

#include <charconv>
#include <utility>

#include "base/json_write.h"
#include "base/utf8.h"
#include "message/origin.h"

namespace bough::message {
namespace {

// Text that is not UTF-8 cannot be a JSON string; it is written as hex digits in an object.
void writeBytes(json::Writer& writer, std::string_view bytes) {
  if (isUtf8(bytes)) {
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

void appendNumber(std::string& out, std::int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void appendHash(std::string& out, std::uint64_t hash) {
  out += '"';
  out += toHex(hash).view();
  out += '"';
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

// Written by hand: there is one for every message, and most of its members need no escapes.
void writeNative(std::string& out, const Native& native) {
  out += "{\"dialect\":\"";
  out += toString(native.dialect);
  out += "\",\"section\":\"";
  out += nameOf(native.section);
  out += '"';
  if (native.place != kNoPlace) {
    out += ",\"place\":";
    appendNumber(out, native.place);
  }
  if (native.wholeSlot) out += ",\"wholeSlot\":true";
  if (!native.entryId.empty()) out.append(",\"entry\":\"").append(native.entryId).append("\"");
  if (!native.separator.empty() && native.separator != ",") {
    out += ",\"separator\":";
    json::Writer writer(out);
    writeBytes(writer, native.separator);
  }
  out += ",\"hash\":";
  appendHash(out, native.rawHash);
  if (native.signedBlocks) {
    out += ",\"prefix\":[";
    appendHash(out, native.prefix.system);
    out += ',';
    appendHash(out, native.prefix.tools);
    out += ',';
    appendHash(out, native.prefix.messages);
    out += ']';
  }
  if (native.problem.empty() || isUtf8(native.raw)) {
    out += ",\"value\":";
    out += native.raw;
  } else {
    out += ",\"bytes\":";
    json::Writer writer(out);
    writeBytes(writer, native.raw);
  }
  out += '}';
}

void writeNode(std::string& out, const NodeRecord& node, const Records& records,
               const std::vector<std::int32_t>& stored, const std::vector<std::int32_t>& before) {
  out += "[\"";
  out += nameOf(node.section).front();
  out += "\",";
  appendHash(out, node.hash);
  if (node.verbatim) {
    out += ',';
    appendNumber(out, before[static_cast<std::size_t>(node.native)]);
  }
  for (std::uint32_t i = 0; !node.verbatim && i < node.leafCount; ++i) {
    const LeafRecord& leaf = records.leaves[node.firstLeaf + i];
    out += ',';
    appendHash(out, leaf.hash);
    out += ',';
    // -1 marks what is synthetic.
    appendNumber(out, leaf.native < 0 ? -1 : stored[static_cast<std::size_t>(leaf.native)]);
  }
  out += ']';
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
  std::vector<char> inPieces(history.natives.size(), 0);
  for (const LeafRecord& leaf : records.leaves) {
    if (leaf.native >= 0) inPieces[static_cast<std::size_t>(leaf.native)] = 1;
  }
  std::int32_t count = 0;
  for (std::size_t i = 0; i < history.natives.size(); ++i) {
    // What stands in the document verbatim needs no copy, only its place among the others.
    before[i] = count - 1;
    if (staysVerbatim(history.natives[i], target) && inPieces[i] == 0) continue;
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
  bool first = true;
  for (std::size_t i = 0; i < history.natives.size(); ++i) {
    if (stored[i] < 0) continue;
    if (!std::exchange(first, false)) out += ',';
    writeNative(out, history.natives[i]);
  }
  writer.endArray().key("nodes").beginArray();
  first = true;
  for (const NodeRecord& node : records.nodes) {
    if (!std::exchange(first, false)) out += ',';
    writeNode(out, node, records, stored, before);
  }
  writer.endArray().key("ids");
  writeAliases(writer, history.ids);
  writer.key("names");
  writeAliases(writer, history.names);
  writer.endObject();
  return out;
}

}  // namespace bough::message
