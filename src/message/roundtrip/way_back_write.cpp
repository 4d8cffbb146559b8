// Writes a WayBack: {"boughOrigin":2,"dialect":…,"frames":[…],"natives":[…],"nodes":[…],"ids":[…],"names":[…]}.
//
// `frames` are the request frames and `natives` the originals, as JSON, so writing one is a copy. docs/messages.md
// describes the members.

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "base/json/json_write.h"
#include "base/system/huge_pages.h"
#include "base/text/utf8.h"
#include "message/json/content_hash.h"
#include "message/roundtrip/way_back.h"

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

void writeSettings(json::Writer& writer, const std::vector<Setting>& settings) {
  writer.beginArray();
  for (const Setting& setting : settings) {
    writer.beginArray().string(setting.unit).string(setting.path).raw(setting.json).endArray();
  }
  writer.endArray();
}

void writeRequestFrame(json::Writer& writer, const RequestFrame& requestFrame) {
  writer.beginObject().member("dialect", toString(requestFrame.dialect)).member("bare", requestFrame.bare);
  writer.member("stringInput", requestFrame.stringInput).member("toolCount", requestFrame.toolCount).key("tools");
  writeBytes(writer, requestFrame.toolsText);
  writer.key("pieces").beginArray();
  for (const RequestFrame::Part& part : requestFrame.parts) {
    writer.beginArray();
    writeBytes(writer, part.text);
    if (part.hasSection) {
      writer.string(nameOf(part.section));
      writeBytes(writer, part.keyText);
      writeBytes(writer, part.emptyText);
      writeBytes(writer, part.endText);
    }
    writer.endArray();
  }
  writer.endArray();
  if (!requestFrame.written.empty()) {
    writer.key("written");
    writeSettings(writer, requestFrame.written);
  }
  writer.endObject();
}

// Written without a json::Writer: there is one original per message, and most of its members need no escapes.
void writeOriginal(std::string& out, const Original& original) {
  out += "{\"dialect\":\"";
  out += toString(original.dialect);
  out += "\",\"section\":\"";
  out += nameOf(original.section);
  out += '"';
  if (original.documentPlace != kNotInDocument) {
    out += ",\"place\":";
    appendNumber(out, original.documentPlace);
  }
  if (original.isRequestMember) out += ",\"wholeSlot\":true";
  if (original.partial) out += ",\"partial\":true";
  if (original.replacesSystem) out += ",\"replacesSystem\":true";
  if (!original.entryId.empty()) out.append(",\"entry\":\"").append(original.entryId).append("\"");
  if (!original.separator.empty() && original.separator != ",") {
    out += ",\"separator\":";
    json::Writer writer(out);
    writeBytes(writer, original.separator);
  }
  out += ",\"hash\":";
  appendHash(out, original.recordedHash ? *original.recordedHash : hashBytes(original.raw));
  if (original.signedBlocks) {
    out += ",\"prefix\":[";
    appendHash(out, original.prefix.system);
    out += ',';
    appendHash(out, original.prefix.tools);
    out += ',';
    appendHash(out, original.prefix.messages);
    out += ']';
  }
  if (original.problem.empty() || isUtf8(original.raw)) {
    out += ",\"value\":";
    out += original.raw;
  } else {
    out += ",\"bytes\":";
    json::Writer writer(out);
    writeBytes(writer, original.raw);
  }
  out += '}';
}

bool holds(const std::vector<Block>& blocks, const Block* block) {
  return !blocks.empty() && !std::less{}(block, blocks.data()) && std::less{}(block, blocks.data() + blocks.size());
}

// Returns whether a block is inside a result, or inside a document in it.
bool holdsInside(const Block& outer, const Block* block) {
  return holds(outer.content, block) ||
         std::ranges::any_of(outer.content, [&](const Block& inner) { return holds(inner.content, block); });
}

// Returns the index of the block of its original that a written block came from; -1 for the whole original. Blocks
// usually come in order, so the search begins at `near`, the index of the previous block.
std::int64_t placeOf(const Block* block, const Original& original, std::size_t& near) {
  const std::vector<Block>& blocks = original.message.blocks;
  if (block == nullptr) return -1;
  if (holds(blocks, block)) return block - blocks.data();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t at = (near + i) % blocks.size();
    if (!holdsInside(blocks[at], block)) continue;
    near = at;
    return static_cast<std::int64_t>(at);
  }
  return -1;
}

void writeValue(std::string& out, const ValueRecord& record, const Records& records, const History& history,
                const std::vector<std::int32_t>& stored, const std::vector<std::int32_t>& before) {
  out += "[\"";
  out += nameOf(record.section).front();
  out += "\",";
  appendHash(out, record.hash);
  if (record.verbatim) {
    out += ',';
    appendNumber(out, before[static_cast<std::size_t>(record.original)]);
  }
  std::size_t near = 0;
  for (std::uint32_t i = 0; !record.verbatim && i < record.blockCount; ++i) {
    const BlockRecord& block = records.blocks[record.firstBlock + i];
    out += ',';
    appendHash(out, block.hash);
    out += ',';
    // -1 marks synthetic blocks.
    appendNumber(out, block.original < 0 ? -1 : stored[static_cast<std::size_t>(block.original)]);
    out += ',';
    appendNumber(out, block.original < 0
                          ? -1
                          : placeOf(block.block, history.originals[static_cast<std::size_t>(block.original)], near));
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

std::string writeWayBack(Dialect target, const History& history, const Records& records,
                         const std::vector<Setting>& written) {
  std::size_t bytes = 4096 + records.values.size() * 32 + records.blocks.size() * 32;
  std::vector<std::int32_t> stored(history.originals.size(), -1);
  std::vector<std::int32_t> before(history.originals.size(), -1);
  std::vector<char> inBlocks(history.originals.size(), 0);
  for (const BlockRecord& block : records.blocks) {
    if (block.original >= 0) inBlocks[static_cast<std::size_t>(block.original)] = 1;
  }
  std::int32_t count = 0;
  for (std::size_t i = 0; i < history.originals.size(); ++i) {
    // An original that is verbatim in the document needs no copy, only its position among the others.
    before[i] = count - 1;
    const bool inPlace = staysVerbatim(history.originals[i], target) && inBlocks[i] == 0;
    if (inPlace || history.originals[i].redacted) continue;
    stored[i] = count++;
    bytes += history.originals[i].raw.size() + 128;
  }
  std::string out;
  out.reserve(bytes);
  wantHugePages(out.data(), out.capacity());
  json::Writer writer(out);
  writer.beginObject().member("boughOrigin", kWayBackVersion).member("dialect", toString(target));
  writer.key("frames").beginArray();
  for (const RequestFrame& requestFrame : history.requestFrames) {
    if (requestFrame.dialect != target) writeRequestFrame(writer, requestFrame);
  }
  writer.endArray();
  if (!written.empty()) {
    writer.key("written");
    writeSettings(writer, written);
  }
  writer.key("natives").beginArray();
  bool first = true;
  for (std::size_t i = 0; i < history.originals.size(); ++i) {
    if (stored[i] < 0) continue;
    if (!std::exchange(first, false)) out += ',';
    writeOriginal(out, history.originals[i]);
  }
  writer.endArray().key("nodes").beginArray();
  first = true;
  for (const ValueRecord& record : records.values) {
    if (!std::exchange(first, false)) out += ',';
    writeValue(out, record, records, history, stored, before);
  }
  writer.endArray().key("ids");
  writeAliases(writer, history.ids);
  writer.key("names");
  writeAliases(writer, history.names);
  writer.endObject();
  return out;
}

}  // namespace bough::message
