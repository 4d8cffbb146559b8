#include "store/file/parts/erased_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "store/rules/header.h"

namespace bough {
namespace {

// Encodes an entry like the serializer. For a line of a draft whose timestamp or type the serializer refuses.
std::string plainText(const Entry& entry) {
  json::Writer writer;
  writer.beginObject().member("id", entry.id).key("parentId");
  entry.parentId.value_or("").empty() ? writer.null() : writer.string(*entry.parentId);
  writer.member("type", entry.type).member("timestamp", entry.timestamp);
  if (!entry.runId.empty()) writer.member("runId", entry.runId);
  return writer.key("payload").raw(entry.payload).endObject().take();
}

// Returns the `"name"` before a `:` and the quote at `at`; empty when there is none.
std::string_view nameBefore(std::string_view json, std::size_t at) {
  if (at < 2 || json[at - 1] != ':' || json[at - 2] != '"') return {};
  const std::size_t begin = at > 2 ? json.rfind('"', at - 3) : std::string_view::npos;
  return begin == std::string_view::npos ? std::string_view() : json.substr(begin, at - 1 - begin);
}

// Returns false for members that have the same value in many messages.
bool isDistinctive(std::string_view name) {
  constexpr std::string_view kSame[] = {
      "role",          "type",   "dialect",     "kind",        "model",      "id",           "name",
      "status",        "object", "stop_reason", "agent",       "media_type", "parentId",     "call_id",
      "finish_reason", "runId",  "mimeType",    "tool_use_id", "timestamp",  "tool_call_id", "entryId"};
  return name.size() > 2 && std::ranges::find(kSame, name.substr(1, name.size() - 2)) == std::end(kSame);
}

}  // namespace

void addTraces(ErasureTraces& traces, std::string_view payload) {
  constexpr std::size_t kShortest = 24;
  constexpr std::size_t kShortestNamed = 4;
  constexpr std::size_t kTraceBytes = 48;
  constexpr std::size_t kMostTraces = 512;
  for (std::size_t at = payload.find('"'); at != std::string_view::npos; at = payload.find('"', at)) {
    const std::size_t begin = ++at;
    while (at < payload.size() && payload[at] != '"') at += payload[at] == '\\' ? 2U : 1U;
    if (at >= payload.size()) return;
    const std::string_view body = payload.substr(begin, at - begin);
    ++at;
    if (body.size() < kShortest) {
      const std::string_view name = nameBefore(payload, begin - 1);
      if (body.size() >= kShortestNamed && isDistinctive(name) && traces.possible.size() < kMostTraces) {
        traces.possible.emplace(name.data(), body.data() + body.size() + 1);
      }
      continue;
    }
    const std::size_t length = std::min(kTraceBytes, body.size());
    for (const std::size_t from : {std::size_t{0}, (body.size() - length) / 2, body.size() - length}) {
      if (traces.certain.size() < kMostTraces) traces.certain.emplace(body.substr(from, length));
    }
  }
}

void addTracesOfLine(ErasureTraces& traces, std::string_view line) {
  const std::size_t payload = line.find("\"payload\"");
  if (payload != std::string_view::npos) addTraces(traces, line.substr(payload));
}

Result<ErasedLines> LineEraser::run(ByteSource& source, std::string_view path) {
  LineReader reader(source, 0);
  for (;;) {
    const auto next = reader.next(Crc32c());
    if (!next && next.error() == EILSEQ) return fail(ErrorCode::Damaged, fmt::format("{} cannot be unpacked", path));
    if (!next) return std::unexpected(systemError(next.error(), "read", path));
    if (!*next) break;
    found_.lacksLineEnd = !(*next)->hasEnd;
    BOUGH_TRY(copyLine(**next, source, path));
  }
  found_.renamed = places_.renamed();
  return std::move(found_);
}

Result<void> LineEraser::copyLine(const LineReader::Line& line, ByteSource& source, std::string_view path) {
  std::string_view text = line.text;
  if (line.tooLong) return copyLong(line, source, path);
  if (line.offset == 0 && text.starts_with(kByteOrderMark)) {
    BOUGH_TRY(put(kByteOrderMark));
    text.remove_prefix(kByteOrderMark.size());
  }
  const bool returns = text.ends_with('\r');
  if (returns) text.remove_suffix(1);
  for (const std::string& sha256 : plan_.attachments) {
    if (text.contains(sha256)) found_.attachments.insert(sha256);
  }
  addNamedPlaces(found_.namedPlaces, text);
  for (std::string& sha256 : wayBackAttachmentsIn(text)) found_.wayBackAttachments.insert(std::move(sha256));
  BOUGH_TRY(copyContent(text, line.offset));
  return put(returns ? (line.hasEnd ? "\r\n" : "\r") : (line.hasEnd ? "\n" : ""));
}

// If a line end was damaged, the text contains several lines, and some of them may be targets.
Result<void> LineEraser::copyContent(std::string_view text, std::uint64_t offset) {
  while (const auto hit = findDamagedTarget(text, offset)) {
    if (hit->begin > 0) {
      BOUGH_TRY(copyText(text.substr(0, hit->begin), offset));
      BOUGH_TRY(put("\n"));
    }
    places_.begin(offset + hit->begin);
    BOUGH_TRY(eraseDamaged(text.substr(hit->begin, hit->end - hit->begin), *hit->target));
    if (hit->end == text.size()) return {};
    BOUGH_TRY(put("\n"));
    offset += hit->end;
    text.remove_prefix(hit->end);
  }
  return copyText(text, offset);
}

Result<void> LineEraser::copyText(std::string_view text, std::uint64_t offset) {
  places_.begin(offset);
  found_.endsBatch = false;
  const auto seal = findSeal(text);
  auto done = seal ? copySealed(text, *seal, offset) : copyUnsealed(text, offset);
  if (seal) notePlaceInBatch(*seal);
  previousRepaired_ = false;
  return done;
}

void LineEraser::notePlaceInBatch(const Seal& seal) {
  previousPlace_ = seal.place;
  previousCount_ = seal.count;
}

// Finds a damaged target in a text by its place, or as a copy of the whole line.
std::optional<LineEraser::DamagedTarget> LineEraser::findDamagedTarget(std::string_view text,
                                                                       std::uint64_t offset) const {
  std::optional<DamagedTarget> first;
  for (const ErasureTarget* const target : damaged_) {
    const std::uint64_t at = target->damaged->offset;
    const bool isPlace = at >= offset && at - offset < text.size();
    const std::size_t begin = isPlace ? static_cast<std::size_t>(at - offset) : 0;
    if (!isPlace && target->bytes != text.size()) continue;
    if (target->bytes > text.size() - begin || (first && first->begin <= begin)) continue;
    if (Sha256::of(text.substr(begin, target->bytes)) != target->storedSha256) continue;
    first = DamagedTarget{.target = target, .begin = begin, .end = begin + static_cast<std::size_t>(target->bytes)};
  }
  return first;
}

// Derives the line's place in its batch from the line before, because the line's own seal may be damaged.
Result<void> LineEraser::eraseDamaged(std::string_view text, const ErasureTarget& target) {
  found_.changed = true;
  found_.targets.insert(target.entryId);
  found_.headId = target.entryId;
  if (!out_) addTracesOfLine(found_.traces, text);
  const auto own = findSeal(text);
  repairedSeal_ = own ? sealDigits(previousSeal_, text.substr(0, own->bodyLength), own->placeText) : SealDigits();
  sealLost_ = !own;
  if (own) previousSeal_ = own->digits;
  Seal seal{.place = previousPlace_ + 1, .count = previousCount_};
  if (previousPlace_ >= previousCount_) seal = {.place = 1, .count = own && own->place == 1 ? own->count : 1};
  notePlaceInBatch(seal);
  previousRepaired_ = true;
  std::string whole;
  if (const Entry left = erasedDamagedEntry(plan_, target); !serializer_.encode(left, whole)) whole = plainText(left);
  std::string made;
  found_.lastSeal = appendSealedLine(made, whole, found_.lastSeal, seal.place, seal.count);
  made.pop_back();
  return put(made);
}

Result<void> LineEraser::copyLong(const LineReader::Line& line, ByteSource& source, std::string_view path) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
  if (!out_) return {};
  places_.begin(line.offset, line.length);
  const std::uint64_t end = line.offset + line.length + (line.hasEnd ? 1 : 0);
  std::string piece;
  for (std::uint64_t at = line.offset; at < end; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min(kPieceBytes, end - at)));
    const auto got = readFully(source, at, piece);
    if (!got) return std::unexpected(systemError(got.error(), "read", path));
    if (*got == 0) return changedWhileRead(path);
    piece.resize(*got);
    BOUGH_TRY(put(piece));
  }
  return {};
}

Result<void> LineEraser::copySealed(std::string_view text, const Seal& seal, std::uint64_t offset) {
  const std::string_view body = text.substr(0, seal.bodyLength);
  const auto digits = sealDigits(previousSeal_, body, seal.placeText);
  const SealDigits repaired = std::exchange(repairedSeal_, std::nullopt);
  const bool verified =
      digits == seal.digits || (repaired && sealDigits(repaired, body, seal.placeText) == seal.digits);
  // After a line without a seal, which may have lost it, readers accept a line without checking its seal.
  const bool readable = verified || (std::exchange(sealLost_, false) && serializer_.decode(text).has_value());
  sealLost_ = false;
  if (!readable) {
    repairedSeal_ = digits;
    places_.begin(offset, text.size());
  }
  previousSeal_ = seal.digits;
  found_.endsBatch = readable && seal.place == seal.count;
  std::optional<Entry> entry;
  const ErasureTarget* const target = readable ? targetOf(text, entry) : nullptr;
  if (!readable && seemsTarget(text)) {
    found_.changed = true;
    return put(fmt::format("{{\"erased\":{{\"damagedBytes\":{}}}}}", text.size()));
  }
  if (target == nullptr && (!(verified || (readable && previousRepaired_)) || !found_.changed)) {
    found_.lastSeal = seal.digits;
    return put(text);
  }
  found_.changed = true;
  const std::string whole =
      places_.withNewPlaces(target != nullptr ? erasedTextOf(*entry, *target) : std::string(body) + "}");
  std::string made;
  found_.lastSeal = appendSealedLine(made, whole, found_.lastSeal, seal.place, seal.count);
  made.pop_back();
  return put(made);
}

Result<void> LineEraser::copyUnsealed(std::string_view text, std::uint64_t offset) {
  std::optional<Entry> entry;
  repairedSeal_.reset();
  sealLost_ = true;
  if (const ErasureTarget* const target = targetOf(text, entry)) {
    found_.changed = true;
    return put(erasedTextOf(*entry, *target));
  }
  std::string storage;
  std::string_view reason;
  const bool isDamaged = !entry && !readAnyKeys(text, storage, reason);
  if (isDamaged) places_.begin(offset, text.size());
  found_.endsBatch = !isDamaged;
  if (isDamaged && seemsTarget(text)) {
    found_.changed = true;
    return put(fmt::format("{{\"erased\":{{\"damagedBytes\":{}}}}}", text.size()));
  }
  return put(text);
}

const ErasureTarget* LineEraser::targetOf(std::string_view text, std::optional<Entry>& entry) {
  std::string storage;
  std::string_view reason;
  auto keys = readCanonicalKeys(text);
  if (!keys) keys = readAnyKeys(text, storage, reason);
  if (!keys) return nullptr;
  moveHead(*keys, text);
  const ErasureTarget* const target = plan_.find(keys->id);
  const bool mayBeNoted =
      entryKind(keys->type) == EntryKind::Redaction ||
      std::ranges::any_of(kDerivedMarkers, [&](std::string_view words) { return text.contains(words); });
  if (target == nullptr && !mayBeNoted) return nullptr;
  auto decoded = serializer_.decode(text);
  if (!decoded) return nullptr;
  entry = std::move(*decoded);
  if (target == nullptr || isErasedPayload(entry->payload)) {
    noteReadable(*entry);
    return nullptr;
  }
  // In the session's own files the id is sufficient.
  if (sessionId_ != target->sessionId && target->damaged) found_.mayRemain = true;
  if (sessionId_ != target->sessionId && Sha256::of(entry->payload) != target->storedSha256) return nullptr;
  found_.targets.insert(target->entryId);
  if (!out_) addTraces(found_.traces, entry->payload);
  return target;
}

void LineEraser::noteReadable(const Entry& entry) {
  if (isErasedPayload(entry.payload)) {
    if (plan_.find(entry.id) != nullptr) found_.targets.insert(entry.id);
  } else if (entry.type == entry_type::kRedaction) {
    found_.receipts.insert(entry.id);
  } else if (isDerivedFrom(plan_, entry)) {
    found_.derivedEntries.push_back(entry);
  }
}

void LineEraser::moveHead(const LineKeys& keys, std::string_view text) {
  const EntryKind kind = entryKind(keys.type);
  if (isConversation(kind)) {
    found_.headId = keys.id;
  } else if (kind == EntryKind::Head || kind == EntryKind::SessionHeader) {
    const auto entry = serializer_.decode(text);
    if (!entry) return;
    if (kind == EntryKind::Head) {
      found_.headId = places_.idInCopy(headNamedBy(entry->payload));
      return;
    }
    const HeaderInfo header = readHeader(*entry);
    found_.format = header.format;
    if (header.origin) found_.headId = header.origin->entryId;
  }
}

bool LineEraser::seemsTarget(std::string_view text) {
  const ErasureTarget* const target = plan_.find(peekId(text));
  if (target != nullptr) {
    const auto entry = serializer_.decode(text);
    if (target->sessionId == sessionId_ || (entry && Sha256::of(entry->payload) == target->storedSha256)) return true;
  }
  const auto isIn = [&](const std::string& trace) { return text.contains(trace); };
  if (std::ranges::any_of(traces_.certain, isIn)) return true;
  found_.mayRemain = found_.mayRemain || std::ranges::any_of(traces_.possible, isIn);
  return false;
}

std::string LineEraser::erasedTextOf(const Entry& stored, const ErasureTarget& target) const {
  const Entry left = erasedEntry(stored, target);
  std::string text;
  if (serializer_.encode(left, text)) return text;
  return plainText(left);
}

}  // namespace bough
