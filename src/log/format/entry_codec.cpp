// The format-1 serializer: an entry's members in their fixed order, JSON values spliced verbatim.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/bytes/put.h"
#include "base/json/json_grammar.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/text/epoch.h"
#include "base/text/timestamp.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "bough/entry.h"
#include "log/format/line.h"

namespace bough {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::size_t kMaxRunIdBytes = 256;
constexpr const char* kObjectHint = "give one JSON object, in UTF-8 and nested at most 512 levels deep";
constexpr const char* kTextHint = "texts, titles, labels, reasons and names of folders must be in UTF-8";

std::unexpected<Error> invalid(const Entry& entry, std::string_view what, const char* hint) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("entry {}: {}", entry.id.empty() ? "(no id yet)" : entry.id, what), hint);
}

// Returns the keys of an entry: its own values, or the defaults where it has none.
EntryDefaults keysOf(const Entry& entry, const EntryDefaults& defaults) {
  return {.id = entry.id.empty() ? defaults.id : entry.id,
          .parentId = entry.parentId ? std::string_view(*entry.parentId) : defaults.parentId,
          .timestamp = entry.timestamp.empty() ? defaults.timestamp : entry.timestamp};
}

enum class KnownMember : std::uint8_t { Id, ParentId, Type, Timestamp, RunId, Payload, Meta, Seal, None };

KnownMember knownMember(const json::ObjectReader::Member& member) {
  constexpr std::string_view kNames[] = {"id", "parentId", "type", "timestamp", "runId", "payload", "meta", "seal"};
  const auto* found = std::ranges::find_if(kNames, [&](std::string_view name) { return member.keyIs(name); });
  return static_cast<KnownMember>(found - std::begin(kNames));
}

// Puts JSON that was printed over several lines on one line: each line break between tokens becomes a blank. A string
// contains no line break, since JSON does not allow that.
void putOnOneLine(std::span<char> text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

Result<json::Layout> checkObject(const Entry& entry, std::string_view name, std::string_view value) {
  const auto checked = json::check(value);
  if (!checked) {
    const bool isText = isUtf8(value);
    return invalid(entry,
                   fmt::format("{} is not JSON: {} at byte {}", name, checked.error().reason, checked.error().offset),
                   isText ? kObjectHint : kTextHint);
  }
  while (json::isBlank(value.front())) value.remove_prefix(1);
  if (value.front() != '{') return invalid(entry, fmt::format("{} is not a JSON object", name), kObjectHint);
  return *checked;
}

Result<json::Layout> checkExtra(const Entry& entry) {
  const std::string wrapped = "{" + entry.extra + "}";
  auto layout = checkObject(entry, "extra", wrapped);
  if (!layout) return layout;
  json::ObjectReader members(wrapped);
  bool any = false;
  for (; const auto member = members.next(); any = true) {
    if (knownMember(*member) != KnownMember::None)
      return invalid(entry, fmt::format("extra holds the known member {}", member->key),
                     "what has a place of its own in an entry goes there");
  }
  if (!any) return invalid(entry, "extra holds no member", "leave it empty");
  return layout;
}

// Checks the keys; values from `defaults` are known to be valid. A type that is not `plain` may come from another
// writer: appends accept fewer types (append_rules.h), but what others have stored is kept.
Result<void> checkKeys(const Entry& entry, const EntryDefaults& defaults, bool plainType) {
  if (entry.id.empty() ? defaults.id.empty() : !isEntryId(entry.id))
    return invalid(entry, "the id is not 1 to 128 of [A-Za-z0-9._:-]",
                   "give another one, or leave it out, and bough makes one");
  if (entry.parentId && !entry.parentId->empty() && !isEntryId(*entry.parentId))
    return invalid(entry, "parentId is not a valid id",
                   "name an earlier entry, or leave parentId out to continue from the head");
  if (!plainType && (entry.type.empty() || !json::check(json::quoted(entry.type)))) {
    return invalid(entry, "the type is empty or not UTF-8", "name it as `message`, `custom` or a type of your own");
  }
  if (entry.timestamp.empty() ? defaults.timestamp.empty() : !parseTimestamp(entry.timestamp))
    return invalid(entry, "the timestamp is not a time of RFC 3339 from 1970 to 9999",
                   "write it as 2026-01-31T12:00:00.000Z, or leave it out: then it is now");
  if (entry.runId.size() > kMaxRunIdBytes || (!entry.runId.empty() && !json::check(json::quoted(entry.runId)))) {
    return invalid(entry, "runId is longer than 256 bytes or not UTF-8", "give another one, or leave it out");
  }
  return {};
}

// Checks the JSON values that are copied verbatim.
Result<json::Layout> checkJson(const Entry& entry) {
  auto payload = checkObject(entry, "payload", entry.payload);
  if (!payload || (entry.meta.empty() && entry.extra.empty())) return payload;
  const auto meta = entry.meta.empty() ? payload : checkObject(entry, "meta", entry.meta);
  if (!meta) return meta;
  const auto extra = entry.extra.empty() ? payload : checkExtra(entry);
  if (!extra) return extra;
  return std::max({*payload, *meta, *extra});
}

// Drafts of the format wrote timestamps as milliseconds since 1970.
bool takeEpochMs(std::string& target, std::string_view value) {
  std::uint64_t ms = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), ms);
  if (status != std::errc{} || end != value.data() + value.size() || ms > kLastEpochMs) return false;
  target = formatTimestamp(ms);
  return true;
}

// Assigns one member of a line to the matching field of the entry. Returns false when the value has the wrong kind.
bool assign(Entry& entry, KnownMember known, const json::ObjectReader::Member& member) {
  const auto takeText = [&](std::string& target) {
    auto text = json::decodeString(member.value);
    if (text) target = std::move(*text);
    return text.has_value();
  };
  const auto takeObject = [&](std::string& target) {
    target.reserve(member.value.size() + kParserPaddingBytes);
    target = member.value;
    return json::kindOf(member.value) == json::Kind::Object;
  };
  switch (known) {
    case KnownMember::Id: return takeText(entry.id);
    case KnownMember::ParentId: return member.value == "null" || takeText(entry.parentId.emplace());
    case KnownMember::Type: return takeText(entry.type);
    case KnownMember::Timestamp: return takeText(entry.timestamp) || takeEpochMs(entry.timestamp, member.value);
    case KnownMember::RunId: return takeText(entry.runId);
    case KnownMember::Payload: return takeObject(entry.payload);
    case KnownMember::Meta: return takeObject(entry.meta);
    case KnownMember::Seal: return true;
    case KnownMember::None: break;
  }
  if (!entry.extra.empty()) entry.extra += ',';
  entry.extra.append("\"").append(member.key).append("\":").append(member.value);
  return true;
}

class JsonEntrySerializer final : public EntrySerializer {
 public:
  [[nodiscard]] int schemaVersion() const override { return kSchemaVersion; }

  Result<void> encode(const Entry& entry, std::string& out) const override { return encodeWith(entry, {}, out); }

  Result<void> encodeWith(const Entry& entry, const EntryDefaults& defaults, std::string& out) const override {
    const EntryDefaults keys = keysOf(entry, defaults);
    const bool plainType = entryKind(entry.type) != EntryKind::Other || isEntryId(entry.type);
    if (auto ok = checkKeys(entry, defaults, plainType); !ok) return ok;
    BOUGH_TRY(const auto layout, checkJson(entry));
    const std::string type = plainType ? std::string() : json::quoted(entry.type);
    const std::string runId = entry.runId.empty() ? std::string() : json::quoted(entry.runId);
    constexpr std::size_t kFixedBytes = 128;  // more than all member names and punctuation below
    const std::size_t most = out.size() + kFixedBytes + keys.id.size() + keys.parentId.size() + entry.type.size() +
                             type.size() + keys.timestamp.size() + runId.size() + entry.payload.size() +
                             entry.meta.size() + entry.extra.size();
    out.resize_and_overwrite(most, [&, begin = out.size()](char* text, std::size_t) {
      Put put(text + begin);
      put(R"({"id":")")(keys.id);
      if (keys.parentId.empty()) {
        put(R"(","parentId":null,"type":)");
      } else {
        put(R"(","parentId":")")(keys.parentId)(R"(","type":)");
      }
      plainType ? put("\"")(entry.type)("\"") : put(type);
      put(R"(,"timestamp":")")(keys.timestamp)("\"");
      if (!runId.empty()) put(R"(,"runId":)")(runId);
      put(R"(,"payload":)")(entry.payload);
      if (!entry.meta.empty()) put(R"(,"meta":)")(entry.meta);
      if (!entry.extra.empty()) put(",")(entry.extra);
      put("}");
      if (layout == json::Layout::Lines) putOnOneLine({text + begin, put.end()});
      return static_cast<std::size_t>(put.end() - text);
    });
    return {};
  }

  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    Entry entry;
    json::ObjectReader members(text);
    unsigned seen = 0;
    while (const auto member = members.next()) {
      // If two members have the same name, the first counts, as it does for readers that read only the beginning of a
      // line.
      const KnownMember known = knownMember(*member);
      const unsigned bit = known == KnownMember::None ? 0 : 1U << static_cast<unsigned>(known);
      if ((seen & bit) != 0) continue;
      seen |= bit;
      if (!assign(entry, known, *member)) {
        const std::string_view wanted = known == KnownMember::Payload || known == KnownMember::Meta ? "a JSON object"
                                        : known == KnownMember::Timestamp
                                            ? "a JSON string, or milliseconds of 1970 to 9999"
                                            : "a JSON string";
        return fail(ErrorCode::Damaged,
                    fmt::format("{}{} is not {}", entry.id.empty() ? "" : fmt::format("entry {}: ", entry.id),
                                member->key, wanted));
      }
    }
    if (members.error()) {
      return fail(ErrorCode::Damaged,
                  fmt::format("not an entry: {} at byte {}", members.error()->reason, members.error()->offset));
    }
    if (!entry.parentId) entry.parentId.emplace();
    if (entry.payload.empty()) entry.payload = "{}";
    return entry;
  }
};

}  // namespace

Result<void> EntrySerializer::encodeWith(const Entry& entry, const EntryDefaults& defaults, std::string& out) const {
  const EntryDefaults keys = keysOf(entry, defaults);
  Entry complete = entry;
  complete.id = keys.id;
  complete.parentId = keys.parentId;
  complete.timestamp = keys.timestamp;
  return encode(complete, out);
}

const EntrySerializer& jsonEntrySerializer() {
  static const JsonEntrySerializer serializer;
  return serializer;
}

}  // namespace bough
