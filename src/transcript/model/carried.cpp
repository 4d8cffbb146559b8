#include "transcript/model/carried.h"

#include <fmt/format.h>

#include "base/bytes/crc32c.h"
#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/text/timestamp.h"
#include "transcript/model/facts.h"
#include "transcript/model/ids.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kName = ",\"bough\":";
constexpr std::string_view kSum = "\"sum\":\"";
constexpr std::string_view kEnd = "\"}}";
constexpr std::size_t kSumDigits = 8;

std::string sumOf(std::string_view bare, std::string_view entries) {
  Crc32c sum;
  sum.add(bare);
  sum.add(entries);
  return fmt::format("{:08x}", sum.value());
}

void writeEntry(json::Writer& writer, const CarriedEntry& carried) {
  const Entry& entry = *carried.entry;
  writer.beginObject().member("id", entry.id).memberOrNull("parentId", carried.parentId);
  writer.member("type", entry.type).member("timestamp", entry.timestamp);
  if (!entry.runId.empty()) writer.member("runId", entry.runId);
  writer.key("payload").raw(entry.payload);
  if (!entry.meta.empty()) writer.key("meta").raw(entry.meta);
  if (!entry.extra.empty()) writer.key("extra").raw("{" + entry.extra + "}");
  writer.endObject();
}

bool isObjectOrMissing(std::string_view value) {
  return value.empty() || json::kindOf(value) == json::Kind::Object;
}

// Anyone may have written the JSON, so the result must be an entry that a store accepts.
std::optional<Entry> readEntry(std::string_view json) {
  if (json::kindOf(json) != json::Kind::Object) return std::nullopt;
  Entry entry;
  entry.id = json::findString(json, "id").value_or("");
  entry.type = json::findString(json, "type").value_or("");
  entry.timestamp = json::findString(json, "timestamp").value_or("");
  entry.runId = json::findString(json, "runId").value_or("");
  entry.payload = json::findMember(json, "payload").value_or("");
  entry.meta = json::findMember(json, "meta").value_or("");
  const std::string_view extra = json::findMember(json, "extra").value_or("");
  if (!isEntryId(entry.id) || !isEntryId(entry.type) || !canBeCarried(entryKind(entry.type), entry.redacted))
    return std::nullopt;
  if ((!entry.timestamp.empty() && !parseTimestamp(entry.timestamp)) ||
      (!entry.runId.empty() && !isEntryId(entry.runId)))
    return std::nullopt;
  if (entry.payload.empty() || !isObjectOrMissing(entry.payload)) return std::nullopt;
  if (!isObjectOrMissing(entry.meta) || !isObjectOrMissing(extra)) return std::nullopt;
  if (!extra.empty()) entry.extra = extra.substr(1, extra.size() - 2);
  entry.parentId = json::findString(json, "parentId").value_or("");
  return entry;
}

struct SessionField {
  std::string_view name;
  std::string CarriedSession::* member;
};
constexpr SessionField kSessionFields[] = {{"id", &CarriedSession::id},
                                           {"as", &CarriedSession::as},
                                           {"key", &CarriedSession::key},
                                           {"cwd", &CarriedSession::cwd},
                                           {"title", &CarriedSession::title}};

}  // namespace

bool canBeCarried(EntryKind kind, bool isRedacted) {
  return !isRedacted && (isConversation(kind) || kind == EntryKind::SessionInfo || kind == EntryKind::Label);
}

CarriedEntry asStored(std::shared_ptr<const Entry> entry) {
  std::string parentId = isConversation(entryKind(entry->type)) ? entry->parentId.value_or("") : std::string();
  return {std::move(entry), std::move(parentId)};
}

CarriedEntry asStored(const Entry& entry) {
  return asStored(std::shared_ptr<const Entry>(std::shared_ptr<const Entry>(), &entry));
}

std::size_t carriedBytes(const Entry& entry) {
  constexpr std::size_t kAround = 160;
  return entry.payload.size() + entry.meta.size() + entry.extra.size() + entry.id.size() * 2 + kAround;
}

std::string withCarried(std::string_view line, const std::vector<CarriedEntry>& entries, std::size_t own) {
  const std::size_t brace = line.rfind('}');
  if (brace == std::string_view::npos || brace < 2) return std::string(line);
  json::Writer writer;
  writer.beginArray();
  for (const CarriedEntry& entry : entries) writeEntry(writer, entry);
  writer.endArray();
  std::string out(line.substr(0, brace));
  out += kName;
  out += "{\"entries\":";
  out += writer.text();
  if (own != CarriedIds::kNone) out += fmt::format(",\"own\":{}", own);
  out += ',';
  out += kSum;
  out += sumOf(line.substr(0, brace + 1), writer.text());
  out += kEnd;
  // The carried entries may be nested so deeply that the line could not be read.
  if (!json::check(out)) return std::string(line);
  out += line.substr(brace + 1);
  return out;
}

std::optional<Carried> carriedIn(std::string_view object) {
  // The member is the last one, and only in lines that bough wrote; all other lines are rejected by their end.
  constexpr std::size_t kTail = kSum.size() + kSumDigits + kEnd.size();
  if (object.size() < kTail || !object.ends_with(kEnd)) return std::nullopt;
  if (object.substr(object.size() - kTail, kSum.size()) != kSum) return std::nullopt;
  const auto member = json::findMember(object, "bough");
  if (!member || json::kindOf(*member) != json::Kind::Object) return std::nullopt;
  Carried carried;
  const auto begin = static_cast<std::size_t>(member->data() - object.data());
  if (begin < kName.size() || begin + member->size() + 1 != object.size()) return std::nullopt;
  carried.beginByte = begin - kName.size();
  if (object.substr(carried.beginByte, kName.size()) != kName) return std::nullopt;
  const auto list = json::findMember(*member, "entries");
  if (!list || json::kindOf(*list) != json::Kind::Array) return std::nullopt;
  const std::string bare = std::string(object.substr(0, carried.beginByte)) + "}";
  if (json::findString(*member, "sum") != sumOf(bare, *list)) return std::nullopt;
  json::ArrayReader elements(*list);
  while (const auto element = elements.next()) {
    auto entry = readEntry(*element);
    if (!entry) return std::nullopt;
    carried.entries.push_back(std::move(*entry));
  }
  if (json::findMember(*member, "own")) {
    carried.own = json::findUnsigned(*member, "own").value_or(CarriedIds::kNone);
    if (carried.own >= carried.entries.size()) return std::nullopt;
    if (!isConversation(entryKind(carried.entries[carried.own].type))) return std::nullopt;
  }
  return carried;
}

void CarriedSession::addTo(TranscriptFacts& facts, std::string_view impliedId) const {
  if (facts.cwd.empty()) facts.cwd = cwd;
  if (facts.key.empty() && isUsableKey(key)) facts.key = key;
  if (facts.title.empty()) facts.title = title;
  if (isSessionId(id) && (facts.sessionId == as || facts.sessionId == impliedId)) facts.storeId = id;
}

Entry carriedSessionEntry(const TranscriptFacts& facts, std::string_view timestamp) {
  const CarriedSession session{.id = facts.storeId,
                               .as = facts.storeId.empty() ? std::string() : facts.sessionId,
                               .key = facts.key,
                               .cwd = facts.cwd,
                               .title = facts.title};
  json::Writer writer;
  writer.beginObject().key("session").beginObject();
  for (const SessionField& field : kSessionFields) {
    if (!(session.*field.member).empty()) writer.member(field.name, session.*field.member);
  }
  Entry entry;
  entry.type = entry_type::kSessionInfo;
  entry.timestamp = timestamp;
  entry.payload = writer.endObject().endObject().take();
  constexpr std::size_t kShort = 16;
  entry.id = fmt::format("{}session:{}", kFactsId, Sha256::of(entry.payload).substr(0, kShort));
  return entry;
}

std::optional<CarriedSession> carriedSessionIn(const Entry& entry) {
  if (entry.type != entry_type::kSessionInfo) return std::nullopt;
  const auto object = json::findMember(entry.payload, "session");
  if (!object || json::kindOf(*object) != json::Kind::Object) return std::nullopt;
  CarriedSession session;
  for (const SessionField& field : kSessionFields)
    session.*field.member = json::findString(*object, field.name).value_or("");
  return session;
}

}  // namespace bough::transcript
