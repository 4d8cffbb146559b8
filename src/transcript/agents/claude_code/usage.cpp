// A file is searched for the name of the member that says what an answer cost, sixty-four bytes at a time; only lines
// that have it are read. Text cannot hold the name, since its quotes are escaped there; tools' arguments and results
// can, and are told apart when the line is read.
#include "transcript/agents/claude_code/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <utility>

#include "base/bytes/byte_block.h"
#include "base/json/json_checked.h"
#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/source/record.h"

namespace bough::transcript::claude_code {
namespace {

constexpr std::string_view kName = "\"usage\"";
constexpr std::size_t kChunkBytes = std::size_t{512} << 10;  // stays in the cache of a core

// The place of the name at or after `from`; npos when there is none.
std::size_t findName(std::string_view text, std::size_t from) {
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kSecond = 1;  // the u
  constexpr std::size_t kFifth = 4;   // the g
  const char* data = text.data();
  const Bytes u = fillBytes('u');
  const Bytes g = fillBytes('g');
  const auto hits = [&](const char* p) {
    return both(equal(loadBytes(p + kSecond), u), equal(loadBytes(p + kFifth), g));
  };
  while (from + kBlock + kName.size() <= text.size()) {
    const char* p = data + from;
    const Bytes a = hits(p);
    const Bytes b = hits(p + 16);
    const Bytes c = hits(p + 32);
    const Bytes d = hits(p + 48);
    if (any(either(either(a, b), either(c, d)))) {
      for (std::uint64_t left = bits(a, b, c, d); left != 0; left &= left - 1) {
        const std::size_t at = from + static_cast<std::size_t>(std::countr_zero(left));
        if (std::memcmp(data + at, kName.data(), kName.size()) == 0) return at;
      }
    }
    from += kBlock;
  }
  return text.find(kName, from);
}

std::uint64_t hashOf(std::string_view identity) {
  return std::hash<std::string_view>{}(identity);
}

class Scan {
 public:
  Scan(const std::string& path, std::uint32_t file, FoundUsage& out) : path_(path), file_(file), out_(out) {}

  // `offset`: of the line in the file.
  void line(std::string_view text, std::uint64_t offset) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    // What a crash leaves in the middle of a line are NUL bytes; without them its strings and brackets are enough.
    if (!text.contains('\0') && object(text)) return;
    // Two records on a line, or damage.
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
    std::string_view usage;
  };

  // False when the text is not one whole object.
  bool object(std::string_view text) {
    Parts parts;
    json::CheckedObject members(text);
    while (const auto key = members.nextKey()) {
      if (*key == "message" && members.rest().starts_with('{')) {
        // Read where it is, so that its text is passed once.
        json::CheckedObject message(members.rest(), json::CheckedObject::Text::Beginning);
        takeMessage(message, parts);
        if (message.isBroken()) return false;
        members.skip(message.end());
        continue;
      }
      const std::string_view value = members.takeValue();
      if (*key == "type") parts.type = value;
      if (*key == "timestamp") parts.timestamp = value;
      if (*key == "uuid") parts.uuid = value;
    }
    if (members.isBroken()) return false;
    if (parts.type == "\"assistant\"" && parts.usage.starts_with('{')) answer(parts);
    return true;
  }

  static void takeMessage(json::CheckedObject& message, Parts& parts) {
    while (const auto member = message.next()) {
      if (member->keyIs("id")) parts.id = member->value;
      if (member->keyIs("model")) parts.model = member->value;
      if (member->keyIs("usage")) parts.usage = member->value;
    }
  }

  void answer(const Parts& parts) {
    const auto& [type, timestamp, uuid, id, model, usage] = parts;
    FoundAnswer found;
    found.file = file_;
    found.place = ++place_;
    const std::string modelName = json::decodeString(model).value_or("");
    found.model = out_.modelOf(modelName);
    const std::string time = json::decodeString(timestamp).value_or("");
    if (const auto parsed = parseTimestamp(time)) lastMs_ = *parsed;
    found.timeMs = lastMs_;
    json::CheckedObject counts(usage);
    while (const auto member = counts.next()) {
      std::uint64_t number = 0;
      std::from_chars(member->value.data(), member->value.data() + member->value.size(), number);
      if (member->keyIs("input_tokens")) found.tokens.inputTokens = number;
      if (member->keyIs("output_tokens")) found.tokens.outputTokens = number;
      if (member->keyIs("cache_read_input_tokens")) found.tokens.cacheReadTokens = number;
      if (member->keyIs("cache_creation_input_tokens")) found.tokens.cacheWriteTokens = number;
    }
    const std::string messageId = json::decodeString(id).value_or("");
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
  std::uint32_t place_ = 0;
  std::uint64_t lastMs_ = 0;
};

// Gives a piece that ends with a line end, or with the file, to the scan.
void scanPiece(std::string_view piece, std::uint64_t offset, Scan& scan) {
  for (std::size_t at = findName(piece, 0); at != std::string_view::npos;) {
    const auto* before = static_cast<const char*>(::memrchr(piece.data(), '\n', at));
    const std::size_t begin = before == nullptr ? 0 : static_cast<std::size_t>(before - piece.data()) + 1;
    const std::size_t end = std::min(piece.find('\n', at), piece.size() - 1) + 1;
    scan.line(piece.substr(begin, end - begin), offset + begin);
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
  thread_local std::string buffer;
  std::size_t held = 0;
  std::uint64_t offset = 0;  // of the buffer in the file
  bool isSkipping = false;
  while (true) {
    if (buffer.size() < held + kChunkBytes) buffer.resize(held + kChunkBytes);
    BOUGH_TRY(const std::size_t got, source.read(std::span(buffer).subspan(held, kChunkBytes)));
    const std::string_view text(buffer.data(), held + got);
    if (got == 0) {
      if (!isSkipping) scanEnd(text, offset, scan);
      break;
    }
    const auto* last = static_cast<const char*>(::memrchr(buffer.data() + held, '\n', got));
    if (last == nullptr) {
      held = text.size();
      if (held <= kMaxTranscriptLineBytes) continue;
      if (!isSkipping) scan.noteDamage(offset, "a line that is too long");
      isSkipping = true;
      offset += std::exchange(held, 0);
      continue;
    }
    const auto end = static_cast<std::size_t>(last - buffer.data()) + 1;
    const std::size_t begin = isSkipping ? text.find('\n') + 1 : 0;
    isSkipping = false;
    scanPiece(text.substr(begin, end - begin), offset + begin, scan);
    std::memmove(buffer.data(), buffer.data() + end, text.size() - end);
    held = text.size() - end;
    offset += end;
  }
  if (buffer.size() > 4 * kChunkBytes) {
    buffer.clear();
    buffer.shrink_to_fit();
  }
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
