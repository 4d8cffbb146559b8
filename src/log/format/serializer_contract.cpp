#include "log/format/serializer_contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <string>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "log/format/line.h"

namespace bough {
namespace {

std::unexpected<Error> breaks(std::string_view type, std::string_view what) {
  return fail(ErrorCode::InvalidArgument, fmt::format("the serializer breaks the format: in a {} entry {}", type, what),
              "keep the fixed bytes that bough/entry.h names at EntrySerializer");
}

// Returns a payload as a line stores it: without surrounding blanks and on one line.
std::string onOneLine(std::string_view payload) {
  const std::size_t first = payload.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  std::string text(payload.substr(first, payload.find_last_not_of(" \t\r\n") + 1 - first));
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string beginningOf(const Entry& entry, const EntryDefaults& defaults) {
  const std::string_view id = entry.id.empty() ? defaults.id : std::string_view(entry.id);
  const std::string_view parent = entry.parentId ? std::string_view(*entry.parentId) : defaults.parentId;
  return fmt::format(R"({{"id":"{}","parentId":{},"type":{})", id,
                     parent.empty() ? "null" : fmt::format("\"{}\"", parent), json::quoted(entry.type));
}

bool isSame(const Entry& one, const Entry& other) {
  return one.id == other.id && one.parentId == other.parentId && one.type == other.type &&
         one.timestamp == other.timestamp && one.runId == other.runId && one.payload == other.payload &&
         one.meta == other.meta && one.extra == other.extra;
}

Result<void> checkOne(const EntrySerializer& serializer, const Entry& entry) {
  std::string text;
  if (auto encoded = serializer.encode(entry, text); !encoded) return breaks(entry.type, encoded.error().message);
  BOUGH_TRY(checkEncoded(serializer, entry, {}, text));
  std::string sealed;
  appendSealedLine(sealed, text, std::nullopt, 1, 1);
  sealed.pop_back();
  for (const std::string& line : {text, sealed}) {
    const auto decoded = serializer.decode(line);
    if (!decoded) return breaks(entry.type, decoded.error().message);
    if (!isSame(*decoded, entry)) return breaks(entry.type, "decode does not return what encode was given");
  }
  return {};
}

}  // namespace

Result<void> checkEncoded(const EntrySerializer& serializer, const Entry& entry, const EntryDefaults& defaults,
                          std::string_view text) {
  if (&serializer == &jsonEntrySerializer()) return {};
  if (!text.starts_with(beginningOf(entry, defaults))) {
    return breaks(entry.type, "the text does not begin with the members id, parentId and type");
  }
  if (!text.ends_with('}') || text.find_first_of("\r\n") != std::string_view::npos || !json::check(text)) {
    return breaks(entry.type, "the text is not one JSON object on one line");
  }
  if (json::findMember(text, "seal")) return breaks(entry.type, "the text has a member \"seal\", which the log adds");
  if (json::findMember(text, "payload").value_or("") != onOneLine(entry.payload)) {
    return breaks(entry.type, "the member \"payload\" is not the payload, byte for byte");
  }
  return {};
}

Result<void> checkSerializer(const EntrySerializer& serializer) {
  if (&serializer == &jsonEntrySerializer()) return {};
  if (serializer.schemaVersion() < 1 || serializer.schemaVersion() == INT_MAX) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the serializer says that its text is of version {}", serializer.schemaVersion()),
                "versions count from 1; 0 is a session without a header");
  }
  Entry entry{.id = "probe.1", .parentId = "", .timestamp = "2026-01-01T00:00:00.000Z"};
  entry.payload = R"({"format":1,"sessionId":"s","parentSession":{"sessionId":"p","entryId":"e"}})";
  entry.type = entry_type::kSessionHeader;
  BOUGH_TRY(checkOne(serializer, entry));
  entry.parentId = "probe.0";
  entry.payload = R"({"entryId":"e","name":"x","targetId":"e","text":"\u0041 \"payload\":1.0"})";
  for (const std::string_view type : {entry_type::kHead, entry_type::kLabel, entry_type::kRedaction,
                                      entry_type::kSessionInfo, entry_type::kMessage, std::string_view("x.own")}) {
    entry.type = type;
    BOUGH_TRY(checkOne(serializer, entry));
    entry.runId = "run \"1\"";
    entry.meta = R"({"m":1e2})";
    entry.extra = R"("own":[1])";
  }
  return {};
}

}  // namespace bough
