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

#include "base/bytes/byte_block.h"
#include "base/json/json_checked.h"
#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
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
  Scan(std::size_t file, std::vector<TranscriptAnswer>& out) : file_(file), out_(out) {}

  void line(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    // What a crash leaves in the middle of a line are NUL bytes; without them its strings and brackets are enough.
    if (!text.contains('\0') && object(text)) return;
    // Two records on a line, or damage.
    const auto source = fromMemory(text);
    LineRecords records(*source, [](std::string_view found) { return json::findMember(found, "type").has_value(); });
    for (auto record = records.next(); record && *record; record = records.next()) {
      if ((*record)->kind == RecordKind::Json) (void)object((*record)->text);
    }
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
    TranscriptAnswer found;
    found.file = file_;
    found.model = json::decodeString(model).value_or("");
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
                                    : fmt::format("claude-code\n{}\n{}\n{}\n{} {} {} {} 0", uuid, time, found.model,
                                                  used.inputTokens, used.outputTokens, used.cacheReadTokens,
                                                  used.cacheWriteTokens));
    out_.push_back(std::move(found));
  }

  std::size_t file_;
  std::vector<TranscriptAnswer>& out_;
  std::uint64_t lastMs_ = 0;
};

// Gives a piece that ends with a line end, or with the file, to the scan.
void scanPiece(std::string_view piece, Scan& scan) {
  for (std::size_t at = findName(piece, 0); at != std::string_view::npos;) {
    const auto* before = static_cast<const char*>(::memrchr(piece.data(), '\n', at));
    const std::size_t begin = before == nullptr ? 0 : static_cast<std::size_t>(before - piece.data()) + 1;
    const std::size_t end = std::min(piece.find('\n', at), piece.size() - 1) + 1;
    scan.line(piece.substr(begin, end - begin));
    at = end >= piece.size() ? std::string_view::npos : findName(piece, end);
  }
}

}  // namespace

Result<void> scanUsage(const std::string& path, std::size_t file, std::vector<TranscriptAnswer>& out) {
  auto source = openFile(path);
  if (!source) return std::unexpected(source.error());
  Scan scan(file, out);
  thread_local std::string buffer;
  std::size_t held = 0;
  bool isSkipping = false;
  while (true) {
    if (buffer.size() < held + kChunkBytes) buffer.resize(held + kChunkBytes);
    const auto got = (*source)->read(std::span(buffer).subspan(held, kChunkBytes));
    if (!got) return std::unexpected(got.error());
    const std::string_view text(buffer.data(), held + *got);
    if (*got == 0) {
      if (!isSkipping) scanPiece(text, scan);
      break;
    }
    const auto* last = static_cast<const char*>(::memrchr(buffer.data() + held, '\n', *got));
    if (last == nullptr) {
      held = text.size();
      if (held > kMaxTranscriptLineBytes) {  // too long to be read
        isSkipping = true;
        held = 0;
      }
      continue;
    }
    const auto end = static_cast<std::size_t>(last - buffer.data()) + 1;
    std::string_view piece = text.substr(0, end);
    if (isSkipping) piece.remove_prefix(piece.find('\n') + 1);
    isSkipping = false;
    scanPiece(piece, scan);
    std::memmove(buffer.data(), buffer.data() + end, text.size() - end);
    held = text.size() - end;
  }
  if (buffer.size() > 4 * kChunkBytes) {
    buffer.clear();
    buffer.shrink_to_fit();
  }
  return {};
}

}  // namespace bough::transcript::claude_code
