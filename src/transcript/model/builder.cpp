#include "transcript/model/builder.h"

#include <fmt/format.h>

#include <utility>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/model/unreadable.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "transcript/model/ids.h"

namespace bough::transcript {
namespace {

// Used when a file has no time at all: equal input must give equal entries.
constexpr std::string_view kNoTime = "1970-01-01T00:00:00.000Z";

// Takes the place of an agent's id for an entry whose line has none. Cannot collide with such an id.
std::uint64_t hashOfPlace(const std::string& entryId) {
  return hashOf('\n' + entryId);
}

// Returns a JSON object without its closing brace.
std::string opened(std::string_view object) {
  return std::string(object.substr(0, object.rfind('}')));
}

}  // namespace

Builder::Builder(std::string_view agent, Wanted wanted, const Use& use)
    : idScope(agent), agent_(agent), wanted_(std::move(wanted)), use_(use) {
  facts.agent = agent;
}

void Builder::message(const Record& record, const Place& place, Dialect dialect, std::string_view message,
                      std::vector<Hole> holes) {
  constexpr std::size_t kAround = 256;
  std::string payload;
  payload.reserve(message.size() + kAround + (wanted_.withoutLines ? 0 : record.raw.size()));
  payload = "{\"dialect\":";
  json::appendQuoted(payload, toString(dialect));
  payload += ",\"message\":";
  payload += message;
  if (wanted_.withoutLines) {
    holes.clear();
  } else {
    for (Hole& hole : holes) hole.path = "message/" + hole.path;
    // A message that is a slice of the line is its own hole; any other message does not occur in the line as a whole.
    if (holes.empty()) holes.push_back({"message", message});
  }
  if (!carriers_.contains(record.offset)) ++report_.messages;
  emit(record, place, entry_type::kMessage, std::move(payload), std::move(holes));
}

void Builder::entry(const Record& record, const Place& place, std::string_view type, std::string_view payload,
                    std::vector<Hole> holes) {
  emit(record, place, type, opened(payload), std::move(holes));
}

void Builder::keep(const Record& record, const Place& place, std::string_view lineKind, std::string_view info) {
  emit(record, place, entry_type::kSessionInfo, "{" + std::string(info), {}, lineKind);
}

void Builder::label(const Record& record, const Place& place, std::string_view targetId, std::string_view name) {
  const std::string target = entryFor(targetId);
  // A label may also be on a line outside the conversation. When that line continues nothing, no entry represents it.
  const bool isOutside = target.empty() && ids_.contains(std::string(targetId));
  if (target.empty() || !isLabelName(name)) {
    if (!isOutside) {
      damage(record, target.empty() ? "a label of an entry that is not there" : "a name that cannot be a label");
    }
    return keep(record, place, "label");
  }
  labels_.insert(std::string(name));
  std::string payload = "{\"name\":";
  json::appendQuoted(payload, name);
  payload += ",\"entryId\":";
  json::appendQuoted(payload, target);
  emit(record, place, entry_type::kLabel, std::move(payload), {}, "label");
}

void Builder::removeLabel(const Record& record, const Place& place, std::string_view name) {
  if (labels_.erase(std::string(name)) == 0) return keep(record, place, "label");
  std::string payload = "{\"name\":";
  json::appendQuoted(payload, name);
  payload += ",\"entryId\":null";
  emit(record, place, entry_type::kLabel, std::move(payload), {}, "label");
}

void Builder::setHead(std::string_view id, std::string_view carried) {
  std::string target = carried_.contains(std::string(carried)) ? std::string(carried) : entryFor(id);
  if (target.empty() && !id.empty()) return;
  headId_ = std::move(target);
  headSet_ = true;
}

std::string Builder::entryFor(std::string_view id) const {
  if (const auto found = ids_.find(std::string(id)); found != ids_.end()) return found->second;
  return known_.contains(hashOf(id)) ? entryIdOf(id) : std::string();
}

bool Builder::isEntry(std::string_view id) const {
  const std::string key(id);
  return !id.empty() && (carrierIds_.contains(key) || (!ids_.contains(key) && known_.contains(hashOf(id))));
}

bool Builder::isEmitted(const std::string& entryId) const {
  if (known_.contains(hashOfPlace(entryId))) return true;
  return carried_.contains(entryId) || (known_.contains(hashOf(entryId)) && entryIdOf(entryId) == entryId);
}

void Builder::carry(const Record& record, Carried&& carried) {
  const auto textAt = static_cast<std::size_t>(record.text.data() - record.raw.data());
  Carrier carrier;
  carrier.bareBytes = textAt + carried.beginByte;
  carrier.carries.own = carried.own;
  std::vector<CarriedEntry> again;
  for (const Entry& entry : carried.entries) {
    carrier.carries.ids.push_back(entry.id);
    again.push_back(asStored(entry));
  }
  // The line is kept without the member; adding the member again must restore it exactly.
  const std::string bare = std::string(record.raw.substr(0, carrier.bareBytes)) + "}" +
                           std::string(record.raw.substr(textAt + record.text.size()));
  if (withCarried(bare, again, carried.own) != record.raw) return;
  for (Entry& entry : carried.entries) emitCarried(record, std::move(entry));
  if (carrier.carries.own != CarriedIds::kNone) lastId_ = carrier.carries.ids[carrier.carries.own];
  carriers_.emplace(record.offset, std::move(carrier));
}

void Builder::emitCarried(const Record& record, Entry&& entry) {
  if (!carried_.insert(entry.id).second || error_) return;
  if (isUnreadable(entry)) keepAsText(entry);
  const bool isInConversation = isConversation(entryKind(entry.type));
  if (!isInConversation) entry.parentId.reset();
  // The first entry of a file that continues another file has its parent in that file.
  const bool isBefore = isInConversation && *entry.parentId == facts.parentEntryId;
  if (isInConversation && !entry.parentId->empty() && !isBefore &&
      (!isEmitted(*entry.parentId) || entry.parentId == entry.id)) {
    damage(record, "an entry that travels without the one that it continues");
    entry.parentId = lastId_;
  }
  if (entry.type == entry_type::kLabel) {
    const auto target = json::findString(entry.payload, "entryId");
    const auto name = json::findString(entry.payload, "name");
    if (!name || !isLabelName(*name) || (target && !isEmitted(*target))) {
      return damage(record, "a label of an entry that is not there");
    }
  }
  if (entry.timestamp.empty()) entry.timestamp = timeOf({});
  lastTime_ = entry.timestamp;
  if (record.offset < wanted_.fromOffset) return;
  if (entry.type == entry_type::kMessage) ++report_.messages;
  ++report_.entries;
  if (auto used = use_(std::move(entry)); !used) error_ = used.error();
}

void Builder::emitCarrier(const Record& record, const Place& place) {
  const bool first = record.offset != lineOffset_;
  lineOffset_ = record.offset;
  std::string meantId;
  // When a reader joined several lines into one answer, several of them may be carriers.
  for (std::size_t at = 0; at < record.raw.size();) {
    const std::size_t end = std::min(record.raw.find('\n', at), record.raw.size() - 1) + 1;
    const std::string_view line = record.raw.substr(at, end - at);
    const auto found = carriers_.find(record.offset + at);
    Origin origin;
    origin.agent = agent_;
    origin.offset = record.offset + at;
    origin.sizeBytes = line.size();
    std::string bytes(line);
    if (found != carriers_.end()) {
      const std::size_t brace = line.rfind('}');
      bytes = std::string(line.substr(0, found->second.bareBytes)) + std::string(line.substr(brace));
      origin.lineKind = "carrier";
      origin.carries = found->second.carries;
      if (origin.carries->own != CarriedIds::kNone) meantId = origin.carries->ids[origin.carries->own];
    }
    at = end;
    if (!first || origin.offset < wanted_.fromOffset || error_) continue;
    Entry entry;
    entry.id = entryIdAt(idScope, origin.offset, 0) + ".line";
    entry.type = entry_type::kSessionInfo;
    entry.timestamp = timeOf({});
    entry.payload = "{";
    appendOrigin(entry.payload, origin, wanted_.withoutLines ? std::string_view() : bytes, {});
    entry.payload += '}';
    ++report_.entries;
    if (auto used = use_(std::move(entry)); !used) error_ = used.error();
  }
  if (place.id.empty()) return;
  const std::string id(place.id);
  if (!meantId.empty()) {
    carrierIds_.insert(id);
  } else {
    // A line that only supports another line refers to the entry that it continues.
    meantId = place.parent ? entryFor(*place.parent) : lastId_;
  }
  known_.erase(hashOf(id));
  ids_[id] = meantId;
}

void Builder::damage(const Record& record, std::string_view reason, bool recovered) {
  ++(recovered ? report_.recovered : report_.unreadable);
  if (report_.damage.size() >= TranscriptReport::kMaxDamage) return;
  report_.damage.push_back({record.offset, record.sizeBytes, std::string(reason), recovered});
}

// Returns the entry's id. When an id occurs again, it belongs to another entry, and refers to that entry from then on.
std::string Builder::idOf(const Record& record, const Place& place) {
  if (place.id.empty()) return entryIdAt(idScope, record.offset, part_);
  const std::uint64_t hash = hashOf(place.id);
  const std::string key(place.id);
  std::string id = entryIdOf(place.id);
  if (known_.contains(hash) || ids_.contains(key) || carried_.contains(id)) {
    damage(record, "an id that was used before");
    differsFromLine_ = true;
    id = entryIdAt(idScope, record.offset, part_);
    ids_[key] = id;
    return id;
  }
  known_.insert(hash);
  return id;
}

std::string Builder::parentOf(const Record& record, const Place& place, std::string_view id) {
  const std::string& before = lastId_.empty() ? facts.parentEntryId : lastId_;
  if (!place.parent) return before;
  if (place.parent->empty()) return {};
  if (const auto found = ids_.find(std::string(*place.parent)); found != ids_.end()) return found->second;
  if (known_.contains(hashOf(*place.parent)) && *place.parent != place.id) return entryIdOf(*place.parent);
  differsFromLine_ = true;
  if (*place.parent == foreignIdOf(id) || *place.parent == place.id) {
    damage(record, "an entry that names itself as its parent");
  } else {
    damage(record, "a parent that is not there, or comes later; the entry continues from the one before it");
  }
  std::string otherwise = place.otherwise == place.id ? std::string() : entryFor(place.otherwise);
  return otherwise.empty() ? before : otherwise;
}

std::string Builder::timeOf(const Place& place) {
  if (const auto time = parseTimestamp(place.timestamp)) lastTime_ = formatTimestamp(*time);
  if (lastTime_.empty()) {
    const auto created = parseTimestamp(facts.created);
    lastTime_ = created ? formatTimestamp(*created) : std::string(kNoTime);
  }
  return lastTime_;
}

void Builder::emit(const Record& record, const Place& place, std::string_view type, std::string payload,
                   std::vector<Hole> holes, std::string_view lineKind) {
  // A record without bytes gives an entry without a line.
  const bool hasLine = record.sizeBytes > 0;
  if (hasLine && carriers_.contains(record.offset)) return emitCarrier(record, place);
  const bool first = hasLine && record.offset != lineOffset_;
  if (first) {
    lineOffset_ = record.offset;
    part_ = 0;
    if (!record.reason.empty() && record.kind == RecordKind::Json) damage(record, record.reason);
  }
  const bool control = isControlType(type);
  differsFromLine_ = false;
  Entry entry;
  if (control) {
    // For later entries, the line's own id (if any) refers to its parent.
    entry.id = entryIdAt(idScope, record.offset, part_);
    // When the rest of the line has come, the whole line gets the id without this suffix.
    if (record.kind == RecordKind::Torn) entry.id += fmt::format(".torn{}", record.sizeBytes);
    if (!place.id.empty()) {
      std::string parent = parentOf(record, place, entry.id);
      known_.erase(hashOf(place.id));
      ids_[std::string(place.id)] = std::move(parent);
    }
  } else {
    entry.parentId = parentOf(record, place, {});
    entry.id = idOf(record, place);
  }
  entry.type = type;
  entry.timestamp = timeOf(place);
  entry.runId = isEntryId(place.runId) ? place.runId : std::string_view();
  Origin origin;
  origin.agent = agent_;
  origin.offset = record.offset;
  origin.sizeBytes = first ? record.sizeBytes : 0;
  origin.lineKind = lineKind;
  origin.differsFromLine = differsFromLine_;
  origin.torn = record.kind == RecordKind::Torn;
  if (record.repaired) holes.clear();
  appendOrigin(payload, origin, first && !wanted_.withoutLines ? record.raw : std::string_view(), std::move(holes));
  payload += '}';
  entry.payload = std::move(payload);
  ++part_;
  if (!control) lastId_ = entry.id;
  if (!control && place.id.empty()) known_.insert(hashOfPlace(entry.id));
  if (record.offset < wanted_.fromOffset || error_) return;
  ++report_.entries;
  if (auto used = use_(std::move(entry)); !used) error_ = used.error();
}

void Builder::keepBytes(const Record& record) {
  switch (record.kind) {
    case RecordKind::Torn:
      damage(record, record.reason.empty() ? "a record that is not complete" : record.reason, false);
      emit(record, {}, entry_type::kSessionInfo, "{", {}, "torn");
      break;
    case RecordKind::Skipped:
      report_.skippedBytes += record.sizeBytes;
      damage(record, record.reason, false);
      emit(record, {}, entry_type::kSessionInfo, "{", {}, "skipped");
      break;
    case RecordKind::Damaged:
      damage(record, record.reason, false);
      emit(record, {}, entry_type::kSessionInfo, "{", {}, "damaged");
      break;
    default: emit(record, {}, entry_type::kSessionInfo, "{", {}, "blank"); break;
  }
}

TranscriptReport Builder::end() {
  report_.facts = facts;
  report_.startsOver = headSet_ && headId_.empty();
  report_.headId = headSet_ ? headId_ : lastId_.empty() ? facts.parentEntryId : lastId_;
  return std::move(report_);
}

}  // namespace bough::transcript
