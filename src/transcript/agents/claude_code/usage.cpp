// A line that begins like an answer is read directly. Any other line is searched for the name of the member that states
// an answer's cost, and is read only when it contains the name. Text cannot contain the name, because its quotes are
// escaped there; arguments and results of tools can, which shows when the line is read.
#include "transcript/agents/claude_code/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>

#include "base/bytes/chunk_buffer.h"
#include "base/bytes/find_text.h"
#include "base/json/json_checked.h"
#include "base/json/json_compact.h"
#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/source/record.h"

namespace bough::transcript::claude_code {
namespace {

constexpr WantedText kName = {.text = "\"usage\"", .first = 1, .second = 4};  // u and g
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;                   // fits into the cache of a core

std::uint64_t hashOf(std::string_view identity) {
  return std::hash<std::string_view>{}(identity);
}

class Scan {
 public:
  Scan(const std::string& path, std::uint32_t file, FoundUsage& out) : path_(path), file_(file), out_(out) {}

  // Reads the line at the beginning of the text if it is written as Claude Code writes an answer. Most files that
  // nobody else has changed consist of such lines, so this reads the text only once. Returns the size of the line, or 0
  // for any other line.
  std::size_t answerLine(std::string_view text) {
    Parts parts;
    const char* const end = readCompact(text.data(), text.data() + text.size(), parts);
    if (end == nullptr) return 0;
    const auto size = static_cast<std::size_t>(end - text.data());
    const std::size_t lineEnd = text.substr(size, 2) == "\r\n" ? size + 1 : size;
    if (lineEnd == text.size() || text[lineEnd] != '\n') return 0;
    // A crash leaves NUL bytes in the middle of a line; without them, checking strings and brackets is enough.
    if (text.substr(0, size).contains('\0')) return 0;
    answer(parts);
    return lineEnd + 1;
  }

  // Reads any line; it may contain blanks, two records, or damage.
  void line(std::string_view text, std::uint64_t offset) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    const auto source = fromMemory(text);
    LineRecords records(*source, [](std::string_view found) { return json::findMember(found, "type").has_value(); });
    for (auto record = records.next(); record && *record; record = records.next()) {
      const RecordKind kind = (*record)->kind;
      if (kind == RecordKind::Json ? !object((*record)->text) : kind != RecordKind::Blank) {
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
    std::optional<Usage> usage;
  };

  // Returns the end of the object; nullptr when the object is not written without blanks.
  static const char* readCompact(const char* begin, const char* end, Parts& parts) {
    const auto take = [&](std::string_view& part, const char* at) {
      const char* const after = json::compactValueEnd(at, end);
      if (after != nullptr) part = {at, after};
      return after;
    };
    std::string_view other;
    const auto ofCacheWrites = [&](std::string_view key, const char* at) {
      const char* const after = take(other, at);
      if (after != nullptr) takeCount(*parts.usage, key, other);
      return after;
    };
    const auto ofUsage = [&](std::string_view key, const char* at) {
      if (key == "cache_creation" && *at == '{') return json::eachCompactMember(at, end, ofCacheWrites);
      const char* const after = take(other, at);
      if (after != nullptr) takeCount(*parts.usage, key, other);
      return after;
    };
    const auto ofMessage = [&](std::string_view key, const char* at) {
      if (key == "id") return take(parts.id, at);
      if (key == "model") return take(parts.model, at);
      if (key != "usage") return take(other, at);
      parts.usage.reset();
      if (*at != '{') return take(other, at);
      parts.usage.emplace();
      return json::eachCompactMember(at, end, ofUsage);
    };
    return json::eachCompactMember(begin, end, [&](std::string_view key, const char* at) {
      if (key == "type") return take(parts.type, at);
      if (key == "timestamp") return take(parts.timestamp, at);
      if (key == "uuid") return take(parts.uuid, at);
      return key == "message" && *at == '{' ? json::eachCompactMember(at, end, ofMessage) : take(other, at);
    });
  }

  // The same for an object with blanks, or with escapes in its names. Returns false when the text is not one whole
  // object.
  bool object(std::string_view text) {
    Parts parts;
    json::CheckedObject members(text);
    while (auto member = members.next()) {
      if (member->keyIs("type")) parts.type = member->value;
      if (member->keyIs("timestamp")) parts.timestamp = member->value;
      if (member->keyIs("uuid")) parts.uuid = member->value;
      if (member->keyIs("message") && member->value.starts_with('{')) takeMessage(member->value, parts);
    }
    if (members.isBroken()) return false;
    answer(parts);
    return true;
  }

  static void takeMessage(std::string_view text, Parts& parts) {
    json::CheckedObject members(text);
    while (auto member = members.next()) {
      if (member->keyIs("id")) parts.id = member->value;
      if (member->keyIs("model")) parts.model = member->value;
      if (!member->keyIs("usage")) continue;
      parts.usage.reset();
      if (!member->value.starts_with('{')) continue;
      parts.usage.emplace();
      json::CheckedObject counts(member->value);
      while (auto count = counts.next()) {
        takeCount(*parts.usage, count->key, count->value);
        if (!count->keyIs("cache_creation") || !count->value.starts_with('{')) continue;
        json::CheckedObject kinds(count->value);
        while (auto kind = kinds.next()) takeCount(*parts.usage, kind->key, kind->value);
      }
    }
  }

  static void takeCount(Usage& usage, std::string_view name, std::string_view value) {
    std::uint64_t* count = nullptr;
    if (name == "input_tokens") count = &usage.inputTokens;
    if (name == "output_tokens") count = &usage.outputTokens;
    if (name == "cache_read_input_tokens") count = &usage.cacheReadTokens;
    if (name == "cache_creation_input_tokens") count = &usage.cacheWriteTokens;
    if (name == "ephemeral_1h_input_tokens") count = &usage.cacheWriteHourTokens;
    if (count == nullptr) return;
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    *count = std::min(number, kMaxTokens);
  }

  // Returns the text of a string; `room` holds it when the string has escapes. Empty for any other value.
  static std::string_view textOf(std::string_view value, std::string& room) {
    if (value.size() >= 2 && value.front() == '"' && !value.contains('\\')) return value.substr(1, value.size() - 2);
    room = json::decodeString(value).value_or("");
    return room;
  }

  void answer(const Parts& parts) {
    const auto& [type, timestamp, uuid, id, model, usage] = parts;
    if (type != "\"assistant\"" || !usage) return;
    FoundAnswer found;
    found.file = file_;
    found.tokens = *usage;
    found.tokens.cacheWriteHourTokens = std::min(usage->cacheWriteHourTokens, usage->cacheWriteTokens);
    const std::string_view modelName = textOf(model, model_);
    found.model = out_.modelOf(modelName);
    const std::string_view time = textOf(timestamp, time_);
    if (const auto parsed = parseTimestamp(time)) lastMs_ = *parsed;
    found.timeMs = lastMs_;
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

// Returns whether a line claims at its beginning to be an answer. This is a guess; it affects how the line is read, but
// not what is found.
bool looksLikeAnswer(std::string_view line) {
  constexpr std::size_t kBeginning = 1024;
  return findText(line.substr(0, kBeginning), {.text = "\"assistant\"", .first = 1, .second = 10}, 0) !=
         std::string_view::npos;
}

// Passes the lines of a piece to the scan. The piece ends with a line end or at the end of the file.
void scanPiece(std::string_view piece, std::uint64_t offset, Scan& scan) {
  bool isUsual = true;
  for (std::size_t begin = 0, size = 0; begin < piece.size(); begin += size) {
    const std::string_view rest = piece.substr(begin);
    if (isUsual && looksLikeAnswer(rest)) {
      size = scan.answerLine(rest);
      if (size > 0) continue;
      isUsual =
          false;  // a line with unclosed brackets was read to the end of the piece; later lines must not repeat that
    }
    size = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, size);
    if (findText(line, kName, 0) != std::string_view::npos) scan.line(line, offset + begin);
  }
}

// Scans the last line of a file without a line end. A crash may have cut it before the part that states the cost.
void scanEnd(std::string_view text, std::uint64_t offset, Scan& scan) {
  if (findText(text, kName, 0) != std::string_view::npos) return scanPiece(text, offset, scan);
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last != std::string_view::npos && text[last] != '}') scan.noteDamage(offset, "a record that is not complete");
}

Result<void> scanSource(ByteSource& source, Scan& scan) {
  thread_local ChunkBuffer buffer;
  buffer.clear();
  std::uint64_t offset = 0;  // of the held bytes in the file
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
  // A file that has disappeared in the meantime used nothing more.
  if (!source && source.error().code == ErrorCode::NotFound) return;
  Scan scan(path, file, out);
  const auto scanned = source ? scanSource(**source, scan) : Result<void>(std::unexpected(source.error()));
  if (!scanned) out.noteUnreadable(scanned.error().message);
}

}  // namespace bough::transcript::claude_code
