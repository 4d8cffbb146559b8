// A file is searched for the name of the member that says what an answer cost; only lines that have it are read. Text
// cannot hold the name, since its quotes are escaped there; tools' arguments and results can, and are told apart when
// the line is read.
#include "transcript/agents/claude_code/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>

#include "base/bytes/chunk_buffer.h"
#include "base/bytes/find_text.h"
#include "base/json/json_checked.h"
#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/source/record.h"

namespace bough::transcript::claude_code {
namespace {

constexpr std::string_view kName = "\"usage\"";
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;  // stays in the cache of a core

// The place of the name at or after `from`; npos when there is none.
std::size_t findName(std::string_view text, std::size_t from) {
  return findText(text, {.text = kName, .first = 1, .second = 4}, from);  // u and g
}

std::uint64_t hashOf(std::string_view identity) {
  return std::hash<std::string_view>{}(identity);
}

class Scan {
 public:
  Scan(const std::string& path, std::uint32_t file, FoundUsage& out) : path_(path), file_(file), out_(out) {}

  // The text begins with a line of `size` bytes, which is at `offset` in the file. What follows the line only lets it
  // be read sixteen bytes at a time to its end.
  void line(std::string_view textAndMore, std::size_t size, std::uint64_t offset) {
    while (size > 0 && (textAndMore[size - 1] == '\n' || textAndMore[size - 1] == '\r')) --size;
    const std::string_view text = textAndMore.substr(0, size);
    // What a crash leaves in the middle of a line are NUL bytes; without them its strings and brackets are enough.
    if (!text.contains('\0') && object(textAndMore, size)) return;
    // Two records on a line, or damage.
    const auto source = fromMemory(text);
    LineRecords records(*source, [](std::string_view found) { return json::findMember(found, "type").has_value(); });
    for (auto record = records.next(); record && *record; record = records.next()) {
      const RecordKind kind = (*record)->kind;
      const std::string_view found = (*record)->text;
      if (kind == RecordKind::Json ? !object(found, found.size()) : kind != RecordKind::Blank) {
        noteDamage(offset + (*record)->offset, (*record)->reason);
      }
    }
  }

  void noteDamage(std::uint64_t offset, std::string_view why) {
    out_.noteUnreadable(fmt::format("{} is damaged at byte {}: {}", path_, offset, why));
  }

 private:
  struct Parts {
    std::string_view type;
    std::string_view timestamp;
    std::string_view uuid;
    std::string_view id;  // of the message
    std::string_view model;
    std::string_view usage;  // begins with it
  };

  // False when the first `size` bytes of the text are not one whole object.
  bool object(std::string_view text, std::size_t size) {
    Parts parts;
    json::CheckedObject members(text, json::CheckedObject::Text::Beginning);
    while (members.nextKey()) {
      if (members.keyIs("message") && members.rest().starts_with('{')) {
        // Read where it is, so that its text is passed once.
        json::CheckedObject message(members.rest(), json::CheckedObject::Text::Beginning);
        takeMessage(message, parts);
        if (message.isBroken()) return false;
        members.skip(message.end());
        continue;
      }
      const std::string_view value = members.takeValue();
      if (members.keyIs("type")) parts.type = value;
      if (members.keyIs("timestamp")) parts.timestamp = value;
      if (members.keyIs("uuid")) parts.uuid = value;
    }
    if (members.isBroken() || members.end() > size) return false;
    if (text.substr(0, size).find_first_not_of(" \t\r\n", members.end()) != std::string_view::npos) return false;
    if (parts.type == "\"assistant\"" && parts.usage.starts_with('{')) answer(parts);
    return true;
  }

  static void takeMessage(json::CheckedObject& message, Parts& parts) {
    while (message.nextKey()) {
      const std::string_view rest = message.rest();
      const std::string_view value = message.takeValue();
      if (message.keyIs("id")) parts.id = value;
      if (message.keyIs("model")) parts.model = value;
      if (message.keyIs("usage")) parts.usage = rest;
    }
  }

  // What a string says; `room` holds it when it is written with escapes. Empty for another value.
  static std::string_view textOf(std::string_view value, std::string& room) {
    if (value.size() >= 2 && value.front() == '"' && !value.contains('\\')) return value.substr(1, value.size() - 2);
    room = json::decodeString(value).value_or("");
    return room;
  }

  void answer(const Parts& parts) {
    const auto& [type, timestamp, uuid, id, model, usage] = parts;
    FoundAnswer found;
    found.file = file_;
    const std::string_view modelName = textOf(model, model_);
    found.model = out_.modelOf(modelName);
    const std::string_view time = textOf(timestamp, time_);
    if (const auto parsed = parseTimestamp(time)) lastMs_ = *parsed;
    found.timeMs = lastMs_;
    json::CheckedObject counts(usage, json::CheckedObject::Text::Beginning);
    while (counts.nextKey()) {
      const std::string_view value = counts.takeValue();
      std::uint64_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      number = std::min(number, kMaxTokens);
      if (counts.keyIs("input_tokens")) found.tokens.inputTokens = number;
      if (counts.keyIs("output_tokens")) found.tokens.outputTokens = number;
      if (counts.keyIs("cache_read_input_tokens")) found.tokens.cacheReadTokens = number;
      if (counts.keyIs("cache_creation_input_tokens")) found.tokens.cacheWriteTokens = number;
    }
    const std::string_view messageId = textOf(id, id_);
    found.certain = !messageId.empty();
    const Usage& used = found.tokens;
    found.id = hashOf(found.certain ? messageId
                                    : fmt::format("claude-code\n{}\n{}\n{}\n{} {} {} {} 0", uuid, time, modelName,
                                                  used.inputTokens, used.outputTokens, used.cacheReadTokens,
                                                  used.cacheWriteTokens));
    out_.add(found);
  }

  const std::string& path_;
  std::uint32_t file_;
  FoundUsage& out_;
  std::uint64_t lastMs_ = 0;
  std::string model_;
  std::string time_;
  std::string id_;
};

// Gives a piece that ends with a line end, or with the file, to the scan.
void scanPiece(std::string_view piece, std::uint64_t offset, Scan& scan) {
  for (std::size_t at = findName(piece, 0); at != std::string_view::npos;) {
    const auto* before = static_cast<const char*>(::memrchr(piece.data(), '\n', at));
    const std::size_t begin = before == nullptr ? 0 : static_cast<std::size_t>(before - piece.data()) + 1;
    const std::size_t end = std::min(piece.find('\n', at), piece.size() - 1) + 1;
    scan.line(piece.substr(begin), end - begin, offset + begin);
    at = end >= piece.size() ? std::string_view::npos : findName(piece, end);
  }
}

// The last line of a file without its end, which a crash may have cut before it says what it cost.
void scanEnd(std::string_view text, std::uint64_t offset, Scan& scan) {
  if (findName(text, 0) != std::string_view::npos) return scanPiece(text, offset, scan);
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last != std::string_view::npos && text[last] != '}') scan.noteDamage(offset, "a record that is not complete");
}

Result<void> scanSource(ByteSource& source, Scan& scan) {
  thread_local ChunkBuffer buffer;
  buffer.clear();
  std::uint64_t offset = 0;  // of what is held in the file
  bool isSkipping = false;
  while (true) {
    BOUGH_TRY(const std::size_t got, source.read(buffer.room(offset + buffer.held().size(), kChunkBytes)));
    buffer.add(got);
    const std::string_view text = buffer.held();
    if (got == 0) {
      if (!isSkipping) scanEnd(text, offset, scan);
      break;
    }
    const auto* last = static_cast<const char*>(::memrchr(text.data() + text.size() - got, '\n', got));
    if (last == nullptr) {
      if (text.size() <= kMaxTranscriptLineBytes) continue;
      if (!isSkipping) scan.noteDamage(offset, "a line that is too long");
      isSkipping = true;
      offset += text.size();
      buffer.clear();
      continue;
    }
    const auto end = static_cast<std::size_t>(last - text.data()) + 1;
    const std::size_t begin = isSkipping ? text.find('\n') + 1 : 0;
    isSkipping = false;
    scanPiece(text.substr(begin, end - begin), offset + begin, scan);
    buffer.drop(end);
    offset += end;
  }
  buffer.shrinkTo(8 * kChunkBytes);
  return {};
}

}  // namespace

void scanUsage(const std::string& path, std::uint32_t file, FoundUsage& out) {
  auto source = openFile(path);
  // A file that is gone meanwhile used nothing more.
  if (!source && source.error().code == ErrorCode::NotFound) return;
  Scan scan(path, file, out);
  const auto scanned = source ? scanSource(**source, scan) : Result<void>(std::unexpected(source.error()));
  if (!scanned) out.noteUnreadable(scanned.error().message);
}

}  // namespace bough::transcript::claude_code
